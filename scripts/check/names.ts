// An exported name belongs to one room: a name that two rooms declare has two meanings, and a reader has to ask which.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { roomOf, root, type SourceFile } from './sources.ts'

/**
 * The names that two rooms still export, a line each. The list may only shrink: `npm run docs` removes names that only
 * one room exports.
 */
export const SHARED_NAMES_PATH = 'scripts/check/shared-names.txt'

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm

/** Names that a second room declares and exports without being on the list, as `name: room, room`. */
export function findSharedNames(files: readonly SourceFile[], listed: readonly string[] = listedNames()): string[] {
  return [...sharedNames(files)]
    .filter(([name]) => !listed.includes(name))
    .map(([name, rooms]) => `${name} is exported by ${[...rooms].join(' and ')}: give one of them another name`)
}

/** The list without the names that only one room exports by now. */
export function sharedNamesText(files: readonly SourceFile[], listed: readonly string[] = listedNames()): string {
  const shared = sharedNames(files)
  return listed
    .filter((name) => shared.has(name))
    .map((name) => `${name}\n`)
    .join('')
}

/** The names on the list. */
export function listedNames(): string[] {
  return readFileSync(join(root, SHARED_NAMES_PATH), 'utf8').split('\n').filter(Boolean)
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
