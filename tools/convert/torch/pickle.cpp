// tools/convert/torch/pickle.cpp - the opcodes of protocols 2 to 5. Names and calls are in pickle_names.cpp, the stack
// in pickle_stack.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "torch/pickle.hpp"

#include <steno/core/bit_cast.hpp>
#include <steno/error.hpp>

#include <cstdio>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace torch {

bool pickle::step() {
  const auto integer = [&](std::int64_t n) { push(add({.what = kind::integer, .number = n})); };
  const auto boolean = [&](bool b) { push(add({.what = kind::boolean, .number = b})); };
  const auto string = [&](kind what, std::uint64_t length) { push(add({.what = what, .text = text(length)})); };
  const auto recall = [&](std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) bad("it refers to an object that is not there");
    push(found->second);
  };
  const auto remember = [&](std::uint64_t key) {
    if (stack_.empty()) bad("the stack is empty");
    memo_[key] = stack_.back();
  };

  charge(1);
  const auto opcode = static_cast<unsigned char>(take(1)[0]);
  switch (opcode) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = number(1);
      if (protocol < 2 || protocol > 5) bad("protocol " + std::to_string(protocol) + " is not supported");
      break;
    }
    case 0x95:  // FRAME
      if (number(8) > bytes_.size() - position_) bad("it is cut short");
      break;
    case '.':
      return false;  // STOP

    case 'N':
      push(add({}));
      break;  // NONE
    case 0x88:
      boolean(true);
      break;  // NEWTRUE
    case 0x89:
      boolean(false);
      break;
    case 'J':
      integer(static_cast<std::int32_t>(number(4)));
      break;  // BININT
    case 'K':
      integer(static_cast<std::int64_t>(number(1)));
      break;
    case 'M':
      integer(static_cast<std::int64_t>(number(2)));
      break;
    case 'I':  // INT, LONG: decimal text
    case 'L':
      integer_text(line());
      break;
    case 0x8a:
      long_integer(take(number(1)));
      break;  // LONG1
    case 0x8b:
      long_integer(take(number(4)));
      break;
    case 'G': {  // BINFLOAT, most significant byte first
      std::uint64_t bits = 0;
      for (const std::byte b : take(8)) bits = bits << 8 | static_cast<std::uint64_t>(b);
      push(add({.what = kind::real, .real = steno::core::bit_cast<double>(bits)}));
      break;
    }

    case 'X':
      string(kind::text, number(4));
      break;  // BINUNICODE
    case 0x8c:
      string(kind::text, number(1));
      break;
    case 0x8d:
      string(kind::text, number(8));
      break;
    case 'T':
      string(kind::text, number(4));
      break;  // BINSTRING, of Python 2
    case 'U':
      string(kind::text, number(1));
      break;
    case 'B':
      string(kind::bytes, number(4));
      break;  // BINBYTES
    case 'C':
      string(kind::bytes, number(1));
      break;
    case 0x8e:
      string(kind::bytes, number(8));
      break;
    case 0x96:
      string(kind::bytes, number(8));
      break;  // BYTEARRAY8

    case ')':
      make(kind::tuple, 0);
      break;
    case 0x85:
      make(kind::tuple, 1);
      break;
    case 0x86:
      make(kind::tuple, 2);
      break;
    case 0x87:
      make(kind::tuple, 3);
      break;
    case ']':
      make(kind::list, 0);
      break;
    case '}':
      make(kind::dict, 0);
      break;
    case 0x8f:
      make(kind::set, 0);
      break;
    case '(':
      marks_.push_back(stack_.size());
      break;  // MARK
    case 't':
      push(add({.what = kind::tuple, .items = pop_to_mark()}));
      break;  // TUPLE
    case 'l':
      push(add({.what = kind::list, .items = pop_to_mark()}));
      break;  // LIST
    case 0x91:
      push(add({.what = kind::set, .items = pop_to_mark()}));
      break;  // FROZENSET
    case 'a':
      append({pop()});
      break;  // APPEND
    case 'e':
      append(pop_to_mark());
      break;     // APPENDS
    case 'd': {  // DICT
      std::vector<id> items = pop_to_mark();
      push(add({.what = kind::dict}));
      set_items(items);
      break;
    }
    case 's': {  // SETITEM
      const id item = pop(), key = pop();
      set_items({key, item});
      break;
    }
    case 'u':
      set_items(pop_to_mark());
      break;      // SETITEMS
    case 0x90: {  // ADDITEMS
      const std::vector<id> items = pop_to_mark();
      node& set = top(kind::set);
      set.items.insert(set.items.end(), items.begin(), items.end());
      break;
    }

    case '0':  // POP
      if (!marks_.empty() && stack_.size() == marks_.back())
        marks_.pop_back();
      else
        pop();
      break;
    case '1':
      pop_to_mark();
      break;     // POP_MARK
    case '2': {  // DUP
      const id last = pop();
      push(last);
      push(last);
      break;
    }
    case 'h':
      recall(number(1));
      break;  // BINGET
    case 'j':
      recall(number(4));
      break;
    case 'q':
      remember(number(1));
      break;  // BINPUT
    case 'r':
      remember(number(4));
      break;
    case 0x94:
      remember(memo_.size());
      break;  // MEMOIZE

    case 'c': {  // GLOBAL
      const std::string_view module = line();
      global(module, line());
      break;
    }
    case 0x93: {  // STACK_GLOBAL
      const node &name = at(pop()), &module = at(pop());
      if (name.what != kind::text || module.what != kind::text) bad("a name is not a text");
      global(module.text, name.text);
      break;
    }
    case 'i': {  // INST: names and calls at once
      const std::string_view module = line();
      const std::string_view name = line();
      std::vector<id> arguments = pop_to_mark();
      global(module, name);
      const id callable = pop();
      call(callable, add({.what = kind::tuple, .items = std::move(arguments)}));
      break;
    }
    case 'o': {  // OBJ: the callable follows the mark
      std::vector<id> arguments = pop_to_mark();
      if (arguments.empty()) bad("the stack is empty");
      const id callable = arguments.front();
      arguments.erase(arguments.begin());
      call(callable, add({.what = kind::tuple, .items = std::move(arguments)}));
      break;
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      const id arguments = pop(), callable = pop();
      call(callable, arguments);
      break;
    }
    case 'b': {  // BUILD: an OrderedDict may carry attributes (a state dict's _metadata); they are not needed
      const node& state = at(pop());
      if (state.what != kind::dict) bad("the state of an object is not a dict");
      top(kind::dict);
      break;
    }
    case 'Q': {  // BINPERSID
      const id key = pop();
      push(persistent(key));
      break;
    }
    default: {
      char code[8];
      std::snprintf(code, sizeof code, "0x%02x", static_cast<unsigned>(opcode));
      bad(std::string("opcode ") + code + " is not one that data needs");
    }
  }
  return true;
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno
