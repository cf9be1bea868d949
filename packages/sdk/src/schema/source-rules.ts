import { faultOfLabels, type SourceFault } from './label-rules.ts'

const ID_CHARACTERS_MAX = 200
const TAG_CHARACTERS_MAX = 4096

/** The identity of a source from outside, unchecked. */
export interface GivenSource {
  readonly id: unknown
  readonly tag: unknown
  readonly labels: unknown
}

/**
 * The first invalid part of a source's identity; undefined if all parts are valid. The same rules apply on the wire.
 */
export function faultOfSource({ id, tag, labels }: GivenSource): SourceFault | undefined {
  if (typeof id !== 'string' || id.length < 1 || id.length > ID_CHARACTERS_MAX) {
    return { place: 'id', given: id, allowed: `1 to ${ID_CHARACTERS_MAX} characters` }
  }
  if (typeof tag !== 'string' || tag.length > TAG_CHARACTERS_MAX) {
    return { place: 'tag', given: tag, allowed: `text of at most ${TAG_CHARACTERS_MAX} characters` }
  }
  return faultOfLabels(labels)
}
