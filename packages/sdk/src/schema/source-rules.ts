import { faultOfLabels, type SourceFault } from './label-rules.ts'

const ID_CHARACTERS_MAX = 200
const TAG_CHARACTERS_MAX = 4096

/** What says who reports, as somebody gave it. */
export interface GivenSource {
  readonly id: unknown
  readonly tag: unknown
  readonly labels: unknown
}

/** The first thing that keeps this from being a source, here and on the wire; undefined if nothing does. */
export function faultOfSource({ id, tag, labels }: GivenSource): SourceFault | undefined {
  if (typeof id !== 'string' || id.length < 1 || id.length > ID_CHARACTERS_MAX) {
    return { place: 'id', given: id, allowed: `1 to ${ID_CHARACTERS_MAX} characters` }
  }
  if (typeof tag !== 'string' || tag.length > TAG_CHARACTERS_MAX) {
    return { place: 'tag', given: tag, allowed: `text of at most ${TAG_CHARACTERS_MAX} characters` }
  }
  return faultOfLabels(labels)
}
