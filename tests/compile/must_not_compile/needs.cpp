// A user's unit, compiled with and without what steno needs of a compiler.
#include <steno/models/sense_voice.hpp>
