import { SondeError } from '../errors.ts'

/** Labels that only Sonde gives: the simulator says with `simulated` that something is not real. */
const OWN_LABELS: ReadonlySet<string> = new Set(['simulated'])

/** Whether a label is reserved: applications may not use it for a source, as a field, or as an index of a view. */
export function isOwnLabel(name: string): boolean {
  return OWN_LABELS.has(name)
}

/**
 * Sees that no field of a type is a label that only Sonde gives.
 *
 * @throws SondeError `SCH_LABEL_NAME` names the type and the field.
 */
export function checkLabels({
  name,
  labels,
}: {
  readonly name: string
  readonly labels: readonly { readonly name: string }[]
}): void {
  for (const label of labels) {
    if (!isOwnLabel(label.name)) continue
    throw new SondeError(
      'SCH_LABEL_NAME',
      `${name}.${label.name}: the label ${label.name} is Sonde's own; name the field otherwise`,
    )
  }
}

/** A fault of a source: the place, the value and the allowed values. */
export interface SourceFault {
  readonly place: string
  readonly given: unknown
  readonly allowed: string
}

/**
 * Labels of a series at most, with those of its source: names and texts together. Views write them out once a series.
 * Unit: characters.
 */
export const SERIES_CHARACTERS_MAX = 8192
const LABEL_COUNT_MAX = 256
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/
const TEXT_CHARACTERS_MAX = 4096

/**
 * The first thing that keeps these from being the labels of a source, here and on the wire; undefined where nothing
 * does.
 */
export function faultOfLabels(labels: unknown): SourceFault | undefined {
  if (labels === null || typeof labels !== 'object' || Array.isArray(labels)) {
    return { place: 'labels', given: labels, allowed: "texts by name, such as { node: 'n1' }" }
  }
  const entries: [string, unknown][] = Object.entries(labels)
  if (entries.length > LABEL_COUNT_MAX) {
    return { place: 'labels', given: `${entries.length} labels`, allowed: `${LABEL_COUNT_MAX} labels` }
  }
  let characters = 0
  for (const [name, text] of entries) {
    // As a key of labels, `__proto__` would set their prototype.
    if (name === '__proto__' || !LABEL_NAME.test(name)) {
      const allowed = 'names of letters, digits and _, at most 128, which begin with no digit'
      return { place: 'labels', given: name, allowed }
    }
    if (typeof text !== 'string' || text.length > TEXT_CHARACTERS_MAX) {
      return { place: `labels.${name}`, given: text, allowed: `text of at most ${TEXT_CHARACTERS_MAX} characters` }
    }
    characters += name.length + text.length
  }
  if (characters <= SERIES_CHARACTERS_MAX) return undefined
  const allowed = `${SERIES_CHARACTERS_MAX} characters of names and texts together`
  return { place: 'labels', given: `${characters} characters`, allowed }
}
