// What the program asks of the system beyond standard C++: system_posix.cpp, system_windows.cpp.
//
// Paths are UTF-8. Functions that return -1 or null, or false, leave the reason in errno.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace steno::app::system {

/// Descriptors that no child process gets. The new file of the second must not be there yet.
int open_to_read(const std::string& path);
int open_new(const std::string& path);
int open_to_append(const std::string& path);
/// What is read from it is nothing, and what is written to it is gone.
int open_nowhere();
/// Another number, above 2, of the same open file.
int duplicate(int fd);
/// From a place, which leaves the descriptor's own place as it is.
std::ptrdiff_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t at);

/// As std::fopen() with the modes "rb", "wb" and "wbx".
std::FILE* open_stream(const std::string& path, const char* mode);
/// A file without a name, which is gone when it is closed.
std::FILE* temporary_file();

struct file_facts {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;      ///< seconds since 1970
  std::int64_t nanoseconds = 0;  ///< after that
};
std::optional<file_facts> facts_of(const std::string& path);
/// The same for one file under all of its names; none where there is no file or folder.
std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::string& path);

/// A file that is there.
bool may_write(const std::string& path);
/// In a folder; and what is in it may be read.
bool may_make_files(const std::string& folder);
bool may_look_into(const std::string& folder);

/// The rights of the file `old`, so that who reads that one sees the new one.
void take_over_rights(int fd, const std::string& old);
/// Written to the disk, so that it is there after a power cut.
bool keep(int fd);
/// `from`, which is closed, gets the name `to`, whatever has it.
bool put_in_place(const std::string& from, const std::string& to);

bool is_terminal(int fd);
/// A pipe or a socket.
bool is_pipe(int fd);
/// To be called when a write to standard output failed: ends the program silently where the reader of a pipe has gone
/// away. Elsewhere than on Windows the signal of that has ended it before.
void end_without_reader();
/// Equal for two descriptors of one terminal.
unsigned long long terminal_number(int fd);
/// Columns.
int terminal_width(int fd);

/// Whether it names a folder by how it ends.
bool ends_as_folder(const std::string& path);

/// This program's file; empty when it cannot be had.
std::string own_program();
/// The most memory that was in use.
double peak_megabytes();
/// An environment variable; empty: there is none.
std::string variable(const char* name);
/// The user's; empty: none is known.
std::string home_folder();
/// What parts the paths of a list in such a variable.
extern const char between_paths;
/// Where files are kept that can be made anew; empty: there is no such place. `hint`: what to set then.
std::string cache_folder(std::string& hint);
/// The usual command that installs a program, for messages.
std::string how_to_install(const std::string& program);

}  // namespace steno::app::system
