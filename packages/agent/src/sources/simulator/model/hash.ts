/**
 * Streams of random numbers. They are independent of each other, so a fault does not change the noise of other values.
 */
export const STREAM = {
  device: 1,
  steps: 2,
  traffic: 3,
  events: 4,
  ripple: 6,
  missed: 7,
  prefill: 8,
  faults: 9,
  places: 10,
} as const

/** A number in [0, 1) that depends only on its keys. Keys are integers; only their low 32 bits count. */
export function uniform(seed: number, stream: number, device: number, index: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  h = mix(h ^ Math.imul(stream, 0xc2b2ae35))
  h = mix(h ^ Math.imul(device + 1, 0x27d4eb2f))
  h = mix(h ^ Math.imul(index ^ (index / 4294967296), 0x165667b1))
  return (h >>> 0) / 4294967296
}

/** Nearly normal distribution with mean 0 and deviation 1, always within ±3.5. */
export function normal(seed: number, stream: number, device: number, index: number): number {
  let sum = -2
  for (let part = 0; part < 4; part++) sum += uniform(seed, stream, device, index * 4 + part)
  return Math.sqrt(3) * sum
}

/** Key of a device for {@link uniform}; different for each kind. */
export function deviceKey(kind: 'gpu' | 'nic', index: number): number {
  return (kind === 'gpu' ? 0x1000 : 0x2000) + index
}

function mix(value: number): number {
  let h = value ^ (value >>> 16)
  h = Math.imul(h, 0x7feb352d)
  h ^= h >>> 15
  h = Math.imul(h, 0x846ca68b)
  return h ^ (h >>> 16)
}
