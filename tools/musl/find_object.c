/* What Debian's libgcc_eh wants of glibc: where the object of an address lies, and its table for exceptions. musl knows
   no such function, but all objects. As glibc's <dlfcn.h> declares it. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct dl_find_object {
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t at;
  struct dl_find_object* result;
};

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  const struct search* const s = data;
  int inside = 0;
  (void)size;
  s->result->eh_frame = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = object->dlpi_phdr + i;
    const uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) s->result->eh_frame = (void*)from;
    if (part->p_type != PT_LOAD || s->at < from || s->at >= to) continue;
    s->result->map_start = (void*)from;
    s->result->map_end = (void*)to;
    inside = 1;
  }
  return inside;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search s = {(uintptr_t)address, result};
  return dl_iterate_phdr(&look, &s) == 1 ? 0 : -1;
}
