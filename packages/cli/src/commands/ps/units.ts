// Numbers of GPUs as text for people.

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Percent: `98.4%`. */
export function percentText(percent: number): string {
  return `${percent.toFixed(1)}%`
}

/** Memory of GPUs, from bytes: `143.6GiB`, `12MiB`. */
export function memoryText(bytes: number): string {
  if (bytes < GIB) return `${(bytes / MIB).toFixed(0)}MiB`
  return `${(bytes / GIB).toFixed(1)}GiB`
}

/** Power, from watts: `1321W`. */
export function wattsText(watts: number): string {
  return `${watts.toFixed(0)}W`
}

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const

/** A duration, from milliseconds, as `kubectl` writes ages: `45s`, `12m`, `5h`, `3d`. A negative duration is `0s`. */
export function durationText(durationMs: number): string {
  const { name, ms } = UNITS.find((unit) => durationMs >= 2 * unit.ms) ?? { name: 's', ms: 1_000 }
  return `${Math.max(0, Math.floor(durationMs / ms))}${name}`
}
