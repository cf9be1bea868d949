// An exported name belongs to one room: a name that two rooms declare has two meanings, and a reader has to ask which.

import { roomOf, type SourceFile } from './sources.ts'

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm

/** Each name that two rooms declare and export, with these rooms. */
export function findSharedNames(files: readonly SourceFile[]): string[] {
  return [...sharedNames(files)].map(
    ([name, rooms]) => `${name} is exported by ${[...rooms].join(' and ')}: give one of them another name`,
  )
}

/** The rooms of each name that more than one room declares and exports; re-exports do not count. */
function sharedNames(files: readonly SourceFile[]): Map<string, Set<string>> {
  const roomsOfName = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    const place = roomOf(path)
    if (place === undefined || /\.test(-d)?\.tsx?$|(^|\/)test-[^/]*$/.test(path)) continue
    for (const [, name = ''] of text.matchAll(DECLARATION)) {
      const rooms = roomsOfName.get(name) ?? new Set()
      roomsOfName.set(name, rooms.add(`${place.group}/${place.room}`))
    }
  }
  return new Map([...roomsOfName].filter(([, rooms]) => rooms.size > 1).sort(([a], [b]) => (a < b ? -1 : 1)))
}
