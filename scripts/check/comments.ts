// Comments and prose of Markdown in lines that are too long. The formatter does not wrap them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const COLUMNS_MAX = 120
/** A line that is a comment, or a part of one, but for those that tell a tool something: they must be one line. */
const COMMENT = /^\s*(?:\/\/(?! biome-ignore)|\/\*\*?| \*) /
/** The head of a page that a program writes. */
const GENERATED = /^(<!-- Made|Generated) by /m

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

/**
 * Lines of prose in Markdown that are too long. Tables, code, headings, pictures and single words may have any
 * length, and so may all lines of generated pages.
 */
export function findLongProse(paths: readonly string[], folder: string): string[] {
  return paths.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    if (GENERATED.test(text)) return []
    let isCode = false
    return text.split('\n').flatMap((line, at) => {
      if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
      if (isCode || line.length <= COLUMNS_MAX || /^\s*(\||#|!\[|\S+$)/.test(line)) return []
      return [`${path}:${at + 1}: a line of ${line.length} columns; allowed: ${COLUMNS_MAX}`]
    })
  })
}
