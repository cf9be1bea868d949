import { isUtf8 } from 'node:buffer'
import type { RecordOf } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { isNumber, KernelText, parseAttribute, parseNumber } from '../kernel-text.ts'
import { impossible, QUANTITIES } from '../ranges/quantities.ts'
import type { netdevType } from './type.ts'

/** One interface of `/proc/net/dev`: a record whose optional fields are still absent. */
export type NetdevRecord = RecordOf<typeof netdevType>

/** What `/proc/net/dev` holds. */
export interface NetdevTable {
  readonly records: NetdevRecord[]
  /** Folders of sysfs of the interfaces whose names are not UTF-8, by `device`. */
  readonly folders: ReadonlyMap<string, Buffer>
  /** The first line that is no interface with 16 numbers, cut at 100 characters; such lines are left out. */
  readonly malformed: string | undefined
}

const HEADER_LINES = 2
const COLUMNS = 16
/**
 * What the kernel takes for a name of an interface, and so for a folder of sysfs: any bytes but a slash and its own
 * blanks.
 */
const NAME = /^(?!\.{1,2}$)[^ \t\n\v\f\r/\0]{1,128}$/

/**
 * Reads `/proc/net/dev`. The name ends at the last colon of the line: old kernels list aliases (`eth0:1`) and leave no
 * blank behind the colon, and numbers hold none.
 */
export function parseNetdev(bytes: Uint8Array, time: bigint): NetdevTable {
  const text = new KernelText(bytes)
  const records: NetdevRecord[] = []
  const folders = new Map<string, Buffer>()
  let malformed: string | undefined
  for (let i = 0; i < HEADER_LINES; i++) text.nextLine()
  const values: Integer64[] = new Array(COLUMNS).fill(0)
  while (!text.done) {
    const start = text.at
    const colon = text.lastIndexOf(':', text.lineEnd())
    let device = colon === -1 ? '' : text.textTo(colon)
    const folder = device.includes('\ufffd') ? bytesOfName(text, start, colon) : undefined
    if (folder !== undefined) device = spellOut(folder)
    if (NAME.test(device) && readColumns(text, values)) {
      records.push(recordOf(time, device, values))
      if (folder !== undefined) folders.set(device, folder)
    } else {
      const line = text.lineFrom(start)
      if (line !== '') malformed ??= line
    }
    text.nextLine()
  }
  return { records, folders, malformed }
}

/** A copy of a name's bytes where they are not UTF-8. Moves to the colon. */
function bytesOfName(text: KernelText, start: number, colon: number): Buffer | undefined {
  text.at = start
  const name = text.bytesTo(colon)
  return isUtf8(name) ? undefined : Buffer.from(name)
}

/** A name that is not UTF-8 as a label: each byte beyond ASCII is spelt out, so that no two names become one. */
function spellOut(name: Buffer): string {
  return name.toString('latin1').replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`)
}

function readColumns(text: KernelText, values: Integer64[]): boolean {
  text.skip(':')
  for (let i = 0; i < COLUMNS; i++) {
    const value = text.u64()
    if (!isNumber(value)) return false
    values[i] = value
  }
  return text.lineDone()
}

function recordOf(time: bigint, device: string, values: readonly Integer64[]): NetdevRecord {
  return {
    time,
    device,
    rx_bytes_total: values[0] as Integer64,
    rx_packets_total: values[1] as Integer64,
    rx_errors_total: values[2] as Integer64,
    rx_dropped_total: values[3] as Integer64,
    rx_fifo_errors_total: values[4] as Integer64,
    rx_frame_errors_total: values[5] as Integer64,
    rx_compressed_packets_total: values[6] as Integer64,
    rx_multicast_packets_total: values[7] as Integer64,
    tx_bytes_total: values[8] as Integer64,
    tx_packets_total: values[9] as Integer64,
    tx_errors_total: values[10] as Integer64,
    tx_dropped_total: values[11] as Integer64,
    tx_fifo_errors_total: values[12] as Integer64,
    tx_collisions_total: values[13] as Integer64,
    tx_carrier_errors_total: values[14] as Integer64,
    tx_compressed_packets_total: values[15] as Integer64,
    up: undefined,
    carrier: undefined,
    speed_bytes_per_second: undefined,
    mtu_bytes: undefined,
  }
}

/** The states of RFC 2863 as the kernel spells them. */
const OPERSTATES = ['up', 'down', 'unknown', 'dormant', 'lowerlayerdown', 'notpresent', 'testing'] as const

/** State of an interface in `operstate`. */
export type Operstate = (typeof OPERSTATES)[number]

/** Reads `operstate`; `undefined` if it holds none of the states. */
export function parseOperstate(bytes: Uint8Array): Operstate | undefined {
  const text = new KernelText(bytes)
  const word = text.word()
  return text.lineDone() ? OPERSTATES.find((state) => state === word) : undefined
}

const BYTES_PER_MEGABIT = 125_000
const U32_LIMIT = 0xffffffff
const NOT_KNOWN = new Missing('unsupported', 'the driver does not know it')

/** `mtu` in bytes. */
export function parseMtu(bytes: Uint8Array): number | undefined {
  return parseTo(U32_LIMIT, bytes)
}

/** `carrier`: whether there is one, as 0 or 1. */
export function parseCarrier(bytes: Uint8Array): number | undefined {
  return parseTo(1, bytes)
}

/** `speed` in bytes per second. The file counts Mbit/s; −1 says that the driver does not know. */
export function parseSpeed(bytes: Uint8Array): number | Missing | undefined {
  const value = parseAttribute(bytes)
  if (value === 'negative') return NOT_KNOWN
  if (!isNumber(value)) return undefined
  const speedBytes = Number(value) * BYTES_PER_MEGABIT
  return impossible(QUANTITIES.linkSpeed, speedBytes) ?? speedBytes
}

function parseTo(limit: number, bytes: Uint8Array): number | undefined {
  const value = parseNumber(bytes)
  return value === undefined || value > limit ? undefined : Number(value)
}
