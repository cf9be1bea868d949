/** Domain, bus, device and function. VMD and Hyper-V use domains of more than four digits, NVML always writes eight. */
const ADDRESS = /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])$/i
/** The only domain of most machines; tools omit it. */
export const PCI_DOMAIN = '0000'

/**
 * Converts a PCI address to the spelling of sysfs: `03:00.0`, `0000:3A:00.1` and NVML's `00000000:9B:00.0` become
 * `0000:03:00.0`, `0000:3a:00.1` and `0000:9b:00.0`. Undefined if the text is no address.
 */
export function pciAddressOf(text: string): string | undefined {
  const [, domain = PCI_DOMAIN, bus, device, functionNumber] = ADDRESS.exec(text) ?? []
  if (bus === undefined) return undefined
  const shortest = Number.parseInt(domain, 16).toString(16).padStart(4, '0')
  return `${shortest}:${bus}:${device}.${functionNumber}`.toLowerCase()
}
