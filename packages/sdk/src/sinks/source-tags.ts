import type { SourceInfo } from '../schema/batch.ts'

/** The tag that matches all sources without a tag: sources of hardware, whose records are counters. */
const COUNTERS = 'counters'

/**
 * Which sources reach a destination: those with one of the tags, and with the word `counters` those without a tag. No
 * tags at all are all sources. Pure.
 */
export function sourceFilter(tags: readonly string[]): (source: Pick<SourceInfo, 'tag'>) => boolean {
  if (tags.length === 0) return () => true
  const wanted = new Set(tags)
  return ({ tag }) => wanted.has(tag === '' ? COUNTERS : tag)
}
