import { SondeError } from '../../errors.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import {
  type FlowProtocol,
  PROTOCOLS,
  SET_HEADER_BYTES,
  TEMPLATE_ID_MAX,
  TEMPLATE_ID_MIN,
  VARIABLE_LENGTH,
} from './protocol.ts'
import { makeWriter, type RecordWriter, type WrittenField } from './record-writer.ts'

/** A field of a template as it is in the packet. */
export interface TemplateField {
  /** Number of the information element. */
  readonly id: number
  /** Its length, or {@link VARIABLE_LENGTH}. Unit: bytes. */
  readonly bytes: number
}

type FlowField = TemplateField & WrittenField

/** How records of a type are sent. */
export interface FlowTemplate {
  readonly id: number
  readonly fields: readonly TemplateField[]
  /** The template record: id, number of fields, fields. */
  readonly definition: Uint8Array
  /** Size of a record; the limits are equal without texts of variable length. Unit: bytes. */
  readonly recordBytesMin: number
  readonly recordBytesMax: number
  readonly write: RecordWriter
}

/** Options of templates. */
export interface FlowTemplateOptions {
  readonly protocol: FlowProtocol
  /** Size of a packet at most. Unit: bytes. */
  readonly packetBytesMax: number
  /** Whether texts have their own length; only for IPFIX. */
  readonly variableLength: boolean
}

/** LAST_SWITCHED and FIRST_SWITCHED of NetFlow v9, and the elements of IPFIX with absolute times. */
const SINCE_BOOT: ReadonlyMap<number, number> = new Map([
  [21, 153],
  [22, 152],
])
const ABSOLUTE_BYTES = 8

/** Whether records of a type can be sent. */
export function isFlowType({ layout }: RecordType): boolean {
  return layout.slots.some(({ field }) => field.element !== undefined)
}

/** Size of a record on the wire with all fields, without headers of packets and with the lengths of v9. Unit: bytes. */
export function flowBytesOf({ layout }: RecordType): number {
  return sum(layout.slots.map(({ field, bytes }) => (field.element === undefined ? 0 : bytes)))
}

/**
 * The template of records of a type that have these fields. Pure.
 *
 * @param isPresent Whether the records have an optional field. Default: they have all.
 * @throws SondeError `NFL_TEMPLATE` for an id below 256, and if a packet cannot hold the template and one record.
 */
export function templateOf(
  type: RecordType,
  id: number,
  options: FlowTemplateOptions,
  isPresent: (slot: Slot) => boolean = () => true,
): FlowTemplate {
  if (!Number.isInteger(id) || id < TEMPLATE_ID_MIN || id > TEMPLATE_ID_MAX)
    throw new SondeError(
      'NFL_TEMPLATE',
      `the id of a template is ${id}; allowed: ${TEMPLATE_ID_MIN} to ${TEMPLATE_ID_MAX}`,
    )
  const fields: readonly FlowField[] = type.layout.slots
    .filter((slot) => slot.field.element !== undefined && isPresent(slot))
    .map((slot) => fieldOf(slot, options))
  const definition = definitionOf(id, fields)
  const recordBytesMin = sum(fields.map(({ bytes }) => (bytes === VARIABLE_LENGTH ? 1 : bytes)))
  const recordBytesMax = sum(fields.map(({ bytes, slot }) => (bytes === VARIABLE_LENGTH ? slot.bytes + 2 : bytes)))
  const { protocol, packetBytesMax } = options
  const neededBytes = PROTOCOLS[protocol].headerBytes + 2 * SET_HEADER_BYTES + definition.length + recordBytesMax
  if (neededBytes > packetBytesMax) {
    const advice = 'take fewer or shorter fields, or raise packetBytesMax'
    throw new SondeError(
      'NFL_TEMPLATE',
      `type ${type.name} needs packets of ${neededBytes} bytes for its template of ${fields.length} fields and one record; allowed: ${packetBytesMax}; ${advice}`,
    )
  }
  const write = makeWriter(fields, type.layout.recordBytes)
  return { id, fields, definition, recordBytesMin, recordBytesMax, write }
}

function fieldOf(slot: Slot, { protocol, variableLength }: FlowTemplateOptions): FlowField {
  const { element: id = 0, kind } = slot.field
  if (protocol === 'ipfix') {
    const absolute = kind === 'u32' ? SINCE_BOOT.get(id) : undefined
    if (absolute !== undefined) return { id: absolute, bytes: ABSOLUTE_BYTES, slot, way: 'since_boot' }
    if (variableLength && kind === 'char') return { id, bytes: VARIABLE_LENGTH, slot, way: 'text' }
  }
  return { id, bytes: slot.bytes, slot, way: kind === 'char' || kind === 'u8' ? 'copy' : 'swap' }
}

function definitionOf(id: number, fields: readonly TemplateField[]): Uint8Array {
  return words([id, fields.length, ...fields.flatMap((field) => [field.id, field.bytes])])
}

/** An options template and its record, which follow each other in the packet that has them. */
export interface OptionsTemplate {
  readonly definition: Uint8Array
  readonly fields: readonly TemplateField[]
}

/** An options template: the scope first, then its fields. Pure. */
export function optionsTemplateOf(
  id: number,
  protocol: FlowProtocol,
  scope: TemplateField,
  fields: readonly TemplateField[],
): OptionsTemplate {
  // v9 counts bytes, IPFIX counts fields: all fields, then those of the scope.
  const counts = protocol === 'v9' ? [4, fields.length * 4] : [fields.length + 1, 1]
  const all = [scope, ...fields]
  return { definition: words([id, ...counts, ...all.flatMap((field) => [field.id, field.bytes])]), fields: all }
}

/** 16-bit numbers in network byte order. */
function words(numbers: readonly number[]): Uint8Array {
  return Uint8Array.from(numbers.flatMap((number) => [number >> 8, number & 0xff]))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
