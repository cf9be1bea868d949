import { PCI_DOMAIN, pciAddressOf } from '@sonde/sdk/internal'

/** A pattern of addresses, which may contain `*` and `?`. */
const PATTERN = /^(?:([0-9a-f?*]{1,8}):)?([0-9a-f?*]{1,2}:[0-9a-f?*]{1,2}\.[0-7?*])$/i

/** Converts a PCI address of NVML to the spelling of sysfs; empty if the text is no address. */
export function sysfsAddress(busId: string): string {
  return pciAddressOf(busId) ?? ''
}

/** Normalises the name of a device: a PCI address gets the spelling of sysfs, other names stay unchanged. */
export function deviceName(text: string): string {
  return pciAddressOf(text) ?? text
}

/** Normalises a pattern of device names, which may start with `!`. */
export function devicePattern(pattern: string): string {
  const bang = pattern.startsWith('!') ? '!' : ''
  const rest = pattern.slice(bang.length)
  const [, domain = PCI_DOMAIN, place] = PATTERN.exec(rest) ?? []
  return `${bang}${pciAddressOf(rest) ?? (place === undefined ? rest : `${domain}:${place}`.toLowerCase())}`
}
