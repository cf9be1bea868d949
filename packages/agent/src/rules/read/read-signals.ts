import { docaDiagSampleType, sampleFieldOf } from '../../sources/doca-telemetry-diag/type.ts'
import { deviceName } from '../../sources/pci-address.ts'
import type { Signal } from '../rule.ts'
import { allowedBy } from './keys.ts'
import { fieldOfDataId, fieldsLike, type KnownField, knownField, labelsOfType } from './known-field.ts'
import { DATA_ID_KEYS, SIGNAL_KEYS } from './language.ts'
import type { JsonNode } from './parse-json.ts'
import { type FaultList, objectMembers, readKeys, shownNode } from './read-object.ts'

/** A signal of the file, with the known properties of its values. */
export interface ReadSignal {
  readonly signal: Signal
  /** Undefined if the type is unknown. */
  readonly known: KnownField | undefined
}

/** Reads `data-ids` or `data_ids`. Entries with faults are left out. */
export function readDataIds(node: JsonNode, path: string, faults: FaultList): ReadSignal[] {
  const ids = new Map<bigint, string>()
  return listItems(node, path, faults, 'data IDs', faults.limits.signals).flatMap(({ item, place }) => {
    const members = objectMembers(item, place, ['name', 'data_id'], faults)
    if (members === undefined) return []
    const values = readKeys(members, DATA_ID_KEYS, place, faults)
    const name = values.get('name')
    const dataId = values.get('data_id')
    if (typeof name !== 'string' || typeof dataId !== 'bigint') return []
    const taken = ids.get(dataId)
    if (taken !== undefined)
      faults.add(`${place}.data_id`, `is the ID that ${taken} has`, 'each ID once; rules may share it')
    ids.set(dataId, place)
    const signal = { name, type: docaDiagSampleType.name, field: sampleFieldOf(dataId), labels: {}, dataId }
    return [{ signal, known: fieldOfDataId(dataId) }]
  })
}

/** Most fields in the message about an unknown field. */
const FIELDS_SHOWN = 8
/** Labels that a source may give all its records. */
const CONSTANT_LABELS = ['simulated']

function fieldsAllowed(type: string, field: string): string {
  const names = fieldsLike(type, field)
  const more = names.length > FIELDS_SHOWN ? `, and ${names.length - FIELDS_SHOWN} others` : ''
  return `a field of ${type} that is a single number: ${names.slice(0, FIELDS_SHOWN).join(', ')}${more}`
}

/**
 * How to watch a diagnostic counter, if a text names the counter's field in the type of the samples; undefined for any
 * other text. Samples only hold the counters that rules request by ID, so the counter is not a known field of the type.
 */
export function dataIdsInPlaceOf(text: string): string | undefined {
  const [, hex] = /^(?:doca_diag_sample\.)?id_([0-9a-f]{1,16})$/i.exec(text) ?? []
  if (hex === undefined) return undefined
  const id = `"data_id": "0x${hex.toLowerCase().padStart(16, '0')}"`
  return `the counter by its ID: "data-ids": [{ "name": "a counter", ${id} }], and in the rule ${id}`
}

/** Reads `signals`. Entries with faults are left out. */
export function readSignals(node: JsonNode, path: string, faults: FaultList): ReadSignal[] {
  return listItems(node, path, faults, 'signals', faults.limits.signals).flatMap(({ item, place }) => {
    const keys = SIGNAL_KEYS.map(({ name }) => name)
    const members = objectMembers(item, place, keys, faults)
    if (members === undefined) return []
    const values = readKeys(members, SIGNAL_KEYS, place, faults)
    const [name, type, field] = ['name', 'type', 'field'].map((key) => values.get(key))
    if (typeof name !== 'string' || typeof type !== 'string' || typeof field !== 'string') return []
    const dataIds = type === docaDiagSampleType.name ? dataIdsInPlaceOf(field) : undefined
    if (dataIds !== undefined) {
      faults.add(place, `is the field ${JSON.stringify(field)} of ${type}`, dataIds)
      return []
    }
    const known = knownField(type, field)
    if (known === 'unfit') {
      faults.add(`${place}.field`, `is ${JSON.stringify(field)}`, fieldsAllowed(type, field))
      return []
    }
    const labels = namedLabels((values.get('labels') ?? {}) as Readonly<Record<string, string>>)
    const allowed = labelsOfType(type)
    for (const label of Object.keys(labels))
      if (allowed !== undefined && !allowed.includes(label) && !CONSTANT_LABELS.includes(label))
        faults.add(`${place}.labels`, `names ${JSON.stringify(label)}`, `labels of ${type}: ${allowed.join(', ')}`)
    return [{ signal: { name, type, field, labels }, known }]
  })
}

/** Labels that may hold a PCI address in the spelling of sysfs. */
const ADDRESS_LABELS: ReadonlySet<string> = new Set(['pci_address', 'chip'])

/** Labels as records have them: rules may spell PCI addresses in several ways. */
function namedLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const named = Object.entries(labels).map(([name, text]) => [name, ADDRESS_LABELS.has(name) ? deviceName(text) : text])
  return Object.fromEntries(named)
}

/** The elements of a list that must not be empty. */
export function listItems(
  node: JsonNode,
  path: string,
  faults: FaultList,
  words: string,
  countMax: number,
): { item: JsonNode; place: string }[] {
  if (node.kind !== 'array' || node.items.length === 0 || node.items.length > countMax) {
    faults.add(path, `is ${shownNode(node)}`, `a list of 1 to ${countMax} ${words}`)
    return []
  }
  return node.items.map((item, index) => ({ item, place: `${path}[${index}]` }))
}

/** Reports each repeated name with the place of its first use. */
export function checkUniqueNames(places: readonly { name: string; place: string }[], faults: FaultList): void {
  const first = new Map<string, string>()
  for (const { name, place } of places) {
    const taken = first.get(name)
    if (taken === undefined) first.set(name, place)
    else faults.add(`${place}.name`, `is ${JSON.stringify(name)}, as ${taken} has it`, allowedBy({ kind: 'text' }))
  }
}
