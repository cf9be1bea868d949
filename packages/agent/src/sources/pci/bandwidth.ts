/** Gigatransfers a second and lane of each generation of PCIe, from the first on. */
export const GIGATRANSFERS = [2.5, 5, 8, 16, 32, 64, 128]

/**
 * Bits of a lane that carry packets, of all that it moves: 8 of 10 in the first two generations, 128 of 130 up to the
 * fifth, 242 of 256 bytes of a flit from the sixth on.
 */
const CODINGS = [8 / 10, 8 / 10, 128 / 130, 128 / 130, 128 / 130, 242 / 256, 242 / 256]
const BITS_PER_BYTE = 8

/** The generation that has a speed; NaN for a speed of none. */
export function generationOf(gigatransfers: number): number {
  const index = GIGATRANSFERS.indexOf(gigatransfers)
  return index < 0 ? Number.NaN : index + 1
}

/** Bytes per second and direction of a link; `undefined` where speed or width is, and for a speed of no generation. */
export function bandwidthOf(gigatransfers: number | undefined, lanes: number | undefined): number | undefined {
  if (gigatransfers === undefined || lanes === undefined) return undefined
  const coding = CODINGS[generationOf(gigatransfers) - 1]
  return coding === undefined ? undefined : Math.floor((gigatransfers * 1e9 * lanes * coding) / BITS_PER_BYTE)
}
