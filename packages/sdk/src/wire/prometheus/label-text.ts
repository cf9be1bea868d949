import type { SourceInfo } from '../../schema/batch.ts'
import { constantLabelNames, exportedName } from '../../schema/constant-labels.ts'
import { labelText } from '../../schema/reader.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { escapeLabelValue, type Labels } from '../../schema/series.ts'
import type { Symbols } from '../../schema/symbols.ts'
import type { Views } from '../../schema/views.ts'

/** Labels that a view adds to the labels of the record and of its source. */
export interface AddedLabels {
  /** Every name that may come. */
  readonly names: readonly string[]
  /** The labels of a series; `own` are those that the record has. */
  of(type: RecordType, source: SourceInfo, own: Labels): Labels
}

/** Gives the text of an id in a record. */
export type TextsById = Pick<Symbols, 'text'>

/**
 * The labels of a series as the exposition writes them: names made valid, what the format reserves renamed, empty
 * values left out (they mean the same as no label). Made once for a type and source.
 */
export class LabelText {
  readonly #type: RecordType
  readonly #source: SourceInfo
  readonly #symbols: TextsById
  /** Name in the exposition of every label, by its own name, in the order of writing. */
  readonly #names: ReadonlyMap<string, string>
  /** Text of the constant labels that the record cannot set itself. */
  readonly #constant: string
  /** Those of the others, by name: for records that leave the label empty. */
  readonly #instead: ReadonlyMap<string, string>
  readonly #added: AddedLabels | undefined
  /** Name of every label that may be added, by its own name. */
  readonly #addedNames: ReadonlyMap<string, string>

  /** @param symbols The texts of the ids in records. Default: the labels of the source. */
  constructor(type: RecordType, source: SourceInfo, added?: AddedLabels, symbols: TextsById = source.symbols) {
    this.#type = type
    this.#source = source
    this.#symbols = symbols
    this.#added = added
    const own = type.labels.map((slot) => slot.name)
    const constant = Object.keys(source.labels).filter((name) => !own.includes(name))
    const reserved = reservedOf(type)
    const constants = constantLabelNames(type)
    this.#names = exposedNames([...own, ...constant], reserved)
    // Existing labels win over added labels.
    const free = added?.names.filter((name) => !this.#names.has(name) && !constants.has(name)) ?? []
    this.#addedNames = exposedNames(free, new Set([...reserved, ...this.#names.values()]))
    this.#instead = new Map(Object.entries(source.labels).filter(([name]) => own.includes(name)))
    this.#constant = this.#join(constant.map((name) => [name, source.labels[name] ?? '']))
  }

  /** The text of the record at `offset`, such as `device="eth0",port="1"`. */
  of(views: Views, offset: number): string {
    const symbols = this.#symbols
    const { labels } = this.#type
    let text = ''
    for (const slot of labels) text = joinLabels(text, this.#pair(slot.name, labelText(slot, views, offset, symbols)))
    text = joinLabels(text, this.#constant)
    if (this.#added === undefined) return text
    const own = labels.map((slot) => [slot.name, labelText(slot, views, offset, symbols)] as const)
    return joinLabels(text, this.#joinAdded(this.#added, own))
  }

  #joinAdded(added: AddedLabels, own: readonly (readonly [name: string, value: string])[]): string {
    let text = ''
    for (const [name, value] of Object.entries(added.of(this.#type, this.#source, Object.fromEntries(own)))) {
      const exposed = this.#addedNames.get(name)
      if (value !== '' && exposed !== undefined) text += `${text === '' ? '' : ','}${exposed}="${valueText(value)}"`
    }
    return text
  }

  /** The same text from a key that `seriesKey` made, which has the names as they were declared. */
  ofKey(key: string): string {
    return this.#join(parseKey(key))
  }

  #join(labels: readonly (readonly [name: string, value: string])[]): string {
    return labels.reduce((text, [name, value]) => joinLabels(text, this.#pair(name, value)), '')
  }

  #pair(name: string, given: string): string {
    const value = given === '' ? (this.#instead.get(name) ?? '') : given
    return value === '' ? '' : `${this.#names.get(name) ?? name}="${valueText(value)}"`
  }
}

/** Two texts of labels as one; either may be empty. */
export function joinLabels(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

/**
 * A label value as it stands between the quotes. NUL, which ends the text for some parsers, is replaced as invalid text
 * is.
 */
function valueText(value: string): string {
  const text = escapeLabelValue(value)
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** Constant labels of fields, and the labels that this format adds to the lines of histograms and arrays. */
function reservedOf(type: RecordType): ReadonlySet<string> {
  const reserved = new Set(constantLabelNames(type))
  for (const slot of type.layout.slots) {
    if (!type.metrics.has(slot.name)) continue
    if (slot.field.role === 'bucket') reserved.add('le')
    else if (slot.field.count > 1) reserved.add('index')
  }
  return reserved
}

function exposedNames(names: readonly string[], reserved: ReadonlySet<string>): ReadonlyMap<string, string> {
  const taken = new Set(reserved)
  const exposed = new Map<string, string>()
  // Valid names come first, so that no corrected name replaces them.
  const right = (name: string) => !reserved.has(name) && mend(name) === name
  for (const name of names.filter(right)) {
    exposed.set(name, name)
    taken.add(name)
  }
  for (const name of names.filter((name) => !right(name))) {
    const mended = reserved.has(name) ? exportedName(name) : mend(name)
    let free = mended
    for (let i = 2; taken.has(free); i++) free = `${mended}_${i}`
    exposed.set(name, free)
    taken.add(free)
  }
  return exposed
}

function mend(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=[0-9]|$)/, '_')
  return valid.startsWith('__') ? `exported${valid}` : valid
}

/** Sticky: it ends at the first place that is no label, where a search for the next would take quadratic time. */
const PAIR = /([^=]*)="((?:\\.|[^"\\])*)"(?:,|$)/gsy

function parseKey(key: string): [string, string][] {
  return Array.from(key.matchAll(PAIR), ([, name = '', value = '']) => [
    name,
    value.replace(/\\(.)/gs, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
  ])
}
