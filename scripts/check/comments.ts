// Comments that are longer than a line of code may be: the formatter leaves them as they are.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const COLUMNS_MAX = 120
/** A line that is a comment, or a part of one, but for those that tell a tool something: they must be one line. */
const COMMENT = /^\s*(?:\/\/(?! biome-ignore)|\/\*\*?| \*) /

/** Lines of comments that are too long, each with its place. */
export function findLongComments(paths: readonly string[], folder: string): string[] {
  return paths.flatMap((path) => {
    const lines = readFileSync(join(folder, path), 'utf8').split('\n')
    return lines.flatMap((line, at) => {
      if (line.length <= COLUMNS_MAX || !COMMENT.test(line)) return []
      return [`${path}:${at + 1}: a comment of ${line.length} columns; allowed: ${COLUMNS_MAX}`]
    })
  })
}
