/** Transfers per second and lane of each generation of PCIe, from the first on. */
export const GENERATION_TRANSFERS_PER_SECOND = [2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9]

/**
 * Bits of a lane that carry packets, of all that it moves: 8 of 10 in the first two generations, 128 of 130 up to the
 * fifth, 242 of 256 bytes of a flit from the sixth on.
 */
const CODINGS = [8 / 10, 8 / 10, 128 / 130, 128 / 130, 128 / 130, 242 / 256, 242 / 256]
const BITS_PER_BYTE = 8

/** The generation that has a speed; NaN for a speed of none. */
export function generationOf(transfersPerSecond: number): number {
  const index = GENERATION_TRANSFERS_PER_SECOND.indexOf(transfersPerSecond)
  return index < 0 ? Number.NaN : index + 1
}

/** Bytes per second and direction of a link; `undefined` where speed or width is, and for a speed of no generation. */
export function bandwidthOf(transfersPerSecond: number | undefined, lanes: number | undefined): number | undefined {
  if (transfersPerSecond === undefined || lanes === undefined) return undefined
  const coding = CODINGS[generationOf(transfersPerSecond) - 1]
  return coding === undefined ? undefined : Math.floor((transfersPerSecond * lanes * coding) / BITS_PER_BYTE)
}
