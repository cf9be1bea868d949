/** A PCI address of NVML as sysfs spells it: `00000000:9B:00.0` is `0000:9b:00.0`. Empty where it is none. */
export function sysfsAddress(busId: string): string {
  const match = /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i.exec(busId)
  if (match === null) return ''
  const domain = Number.parseInt(match[1] as string, 16)
    .toString(16)
    .padStart(4, '0')
  return `${domain}:${match[2]}`.toLowerCase()
}
