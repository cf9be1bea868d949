import { closest } from '@sonde/sdk/config'
import { allowedBy, DATA_ID, type Form, type Key, LABELS_MAX } from './keys.ts'
import type { RuleLimits } from './limits.ts'
import type { JsonNode } from './parse-json.ts'

/** A checked value. Numbers stay digits, so that nothing is rounded before the signal is known. */
export type FormValue = string | number | bigint | readonly string[] | Readonly<Record<string, string>>

/** Values by key. Missing and wrong keys are left out. */
export type FormValues = ReadonlyMap<string, FormValue>

/** Collects faults. */
export class FaultList {
  readonly faults: string[] = []
  readonly limits: RuleLimits

  constructor(limits: RuleLimits) {
    this.limits = limits
  }

  /** `rules[0].name is null; allowed: text …`. */
  add(path: string, found: string, allowed: string): void {
    this.faults.push(`${path} ${found}; allowed: ${allowed}`)
  }
}

/** The members of an object by key. Repeated and unknown keys are faults. */
export function objectMembers(
  node: JsonNode,
  path: string,
  known: readonly string[],
  faults: FaultList,
): Map<string, JsonNode> | undefined {
  const allowed = `an object with the keys ${known.join(', ')}`
  if (node.kind !== 'object') {
    faults.add(path === '' ? 'the file' : path, `is ${path === '' ? 'no object' : shownNode(node)}`, allowed)
    return undefined
  }
  // JSON without any key of rules is some other file, so its content is not shown.
  if (path === '' && node.members.length > 0 && !node.members.some(({ key }) => isMeant(key, known))) {
    faults.add('the file', 'has no key of a file of rules', allowed)
    return undefined
  }
  const members = new Map<string, JsonNode>()
  for (const { key, value } of node.members) {
    const place = keyPath(path, key)
    if (!known.includes(key)) {
      const meant = closest(key, known)
      faults.add(place, `is an unknown key${meant === undefined ? '' : ` (did you mean ${meant}?)`}`, known.join(', '))
    } else if (members.has(key)) faults.add(place, 'is there twice', 'each key once')
    else members.set(key, value)
  }
  return members
}

function isMeant(key: string, known: readonly string[]): boolean {
  return known.includes(key) || closest(key, known) !== undefined
}

/** Reads the keys of an object. */
export function readKeys(
  members: ReadonlyMap<string, JsonNode>,
  keys: readonly Key[],
  path: string,
  faults: FaultList,
): FormValues {
  const values = new Map<string, FormValue>()
  for (const { name, form, fallback } of keys) {
    const node = members.get(name)
    if (node === undefined) {
      if (fallback === undefined) faults.add(keyPath(path, name), 'is missing', allowedBy(form))
      continue
    }
    const value = readForm(node, form, keyPath(path, name), faults)
    if (value !== undefined) values.set(name, value)
  }
  return values
}

/** Reads a value; reports a fault and returns undefined if it is wrong. */
export function readForm(node: JsonNode, form: Form, path: string, faults: FaultList): FormValue | undefined {
  const value = formValue(node, form, faults.limits)
  if (value === undefined) faults.add(path, `is ${shownNode(node)}`, allowedBy(form))
  return value
}

function formValue(node: JsonNode, form: Form, limits: RuleLimits): FormValue | undefined {
  switch (form.kind) {
    case 'text':
      return isName(node, limits) ? node.value : undefined
    case 'data_id':
      return node.kind === 'text' && DATA_ID.test(node.value) ? BigInt(node.value) : undefined
    case 'integer': {
      // 1.5 and 1e6 are not plain digits, and -0 is surely a mistake.
      const number = node.kind === 'number' && /^\d+$/.test(node.digits) ? BigInt(node.digits) : undefined
      return number !== undefined && number >= form.min && number <= form.max ? number : undefined
    }
    case 'number': {
      const number = node.kind === 'number' ? Number(node.digits) : Number.NaN
      return number >= form.min && number <= form.max ? number : undefined
    }
    case 'value':
      return node.kind === 'number' && Number.isFinite(Number(node.digits)) ? node.digits : undefined
    case 'names':
      if (node.kind !== 'array' || node.items.length < form.min || node.items.length > form.max) return undefined
      return node.items.every((item) => isName(item, limits)) ? node.items.map((item) => nodeText(item)) : undefined
    case 'labels':
      if (node.kind !== 'object' || node.members.length > LABELS_MAX) return undefined
      if (new Set(node.members.map(({ key }) => key)).size !== node.members.length) return undefined
      if (!node.members.every(({ value }) => isName(value, limits))) return undefined
      return Object.fromEntries(node.members.map(({ key, value }) => [key, nodeText(value)]))
  }
}

function isName(node: JsonNode, limits: RuleLimits): node is JsonNode & { kind: 'text' } {
  return node.kind === 'text' && node.value !== '' && [...node.value].length <= limits.nameCharacters
}

function nodeText(node: JsonNode): string {
  return node.kind === 'text' ? node.value : ''
}

/** `rules[0].name`; keys that are not words are quoted. */
function keyPath(path: string, key: string): string {
  const word = /^[\w$-]{1,200}$/.test(key) ? key : JSON.stringify(key.slice(0, 200))
  return path === '' ? word : `${path}.${word}`
}

/** A value for a message. */
export function shownNode(node: JsonNode): string {
  if (node.kind === 'text') return JSON.stringify(node.value.slice(0, 100))
  if (node.kind === 'number') return node.digits.slice(0, 100)
  if (node.kind === 'array') return `a list of ${node.items.length}`
  return node.kind === 'object' ? 'an object' : node.kind
}
