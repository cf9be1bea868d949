import { wallOffsetNs } from '@sonde/sdk/internal'
import { type CutWindow, shiftTimes, type Tap } from '../sampling/tap.ts'
import type { WindowRequest } from './protocol.ts'

/** Memory of one window. Unit: bytes. */
const WINDOW_BYTES_MAX = 64 << 20

/** A copy of the requested samples of a ring. Their times are of the wall clock. */
export function cutWindow(
  tap: Tap,
  { fromMonoNs, toMonoNs, bytesMax, wallOffsetNs: offsetNs }: Omit<WindowRequest, 'type' | 'device'>,
): CutWindow {
  const window = tap.cut(BigInt(fromMonoNs), BigInt(toMonoNs), Math.min(bytesMax, WINDOW_BYTES_MAX))
  shiftTimes(window, offsetNs === undefined ? wallOffsetNs() : BigInt(offsetNs))
  return window
}
