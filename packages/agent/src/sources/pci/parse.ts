import { pciAddressOf } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { isNumber, KernelText, parseNumber } from '../kernel-text.ts'

/** Whether a name of sysfs is the address of a PCI device. */
export function isAddress(name: string): boolean {
  return pciAddressOf(name) === name
}

/**
 * The addresses in a folder's path below sysfs, in order: those of the bridges from the root port on, then the device's
 * own.
 */
export function addressesOf(folders: readonly string[]): string[] {
  return folders.filter(isAddress)
}

/** A number such as `0x15b3`; `undefined` if it is none. */
export function parseHexadecimal(bytes: Uint8Array): number | undefined {
  const text = new KernelText(bytes)
  if (!text.skip('0x')) return undefined
  const value = text.hex()
  return isNumber(value) && text.lineDone() ? value : undefined
}

/**
 * Reads `current_link_speed` and `max_link_speed` in transfers per second: `16.0 GT/s PCIe`, without `PCIe` up to
 * Linux 5.6, `Unknown`, and `Unknown speed` before that.
 */
export function parseSpeed(bytes: Uint8Array): number | 'unknown' | undefined {
  const text = new KernelText(bytes)
  if (text.skip('Unknown')) return 'unknown'
  const value = text.decimal()
  return isNumber(value) && value > 0 && text.word() === 'GT/s' ? value * 1e9 : undefined
}

/** Lanes of `current_link_width` and `max_link_width`, as they stand there. 0, 63 and 255 are not widths of links. */
export function parseWidth(bytes: Uint8Array): number | undefined {
  const value = parseNumber(bytes)
  return value === undefined || value > 255 ? undefined : Number(value)
}

const NODE_UNKNOWN = new Missing('unsupported', 'the firmware does not say which NUMA node it is close to')

/** NUMA node of a device: −1 where the firmware does not say. */
export function parseNumaNode(bytes: Uint8Array): number | Missing | undefined {
  const text = new KernelText(bytes)
  if (text.skip('-1')) return text.lineDone() ? NODE_UNKNOWN : undefined
  const value = parseNumber(bytes)
  return value === undefined || value > 0xffff ? undefined : Number(value)
}

const NO_PROCESSOR = new Missing('unsupported', 'its NUMA node has no processor')

/** The first number in a list of processors such as `32-63,96-127`. */
export function parseFirstProcessor(bytes: Uint8Array): number | Missing | undefined {
  const list = Buffer.from(bytes).toString('latin1').trim()
  if (list === '') return NO_PROCESSOR
  const first = /^(\d{1,6})(?:[-,]\d{1,6})*$/.exec(list)?.[1]
  return first === undefined ? undefined : Number(first)
}
