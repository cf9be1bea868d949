import { endianness } from 'node:os'
// Alone in its process, which is to start fast.
import koffi from 'koffi'

/** What the kernel knows about the synchronisation of its clock. */
export interface ClockState {
  /** What the clock is still to be corrected by. Unit: seconds. */
  readonly offset_seconds: number
  /** How wrong the clock may be at most, and is estimated to be. Unit: seconds. */
  readonly max_error_seconds: number
  readonly estimated_error_seconds: number
  /** Whether a program keeps it synchronised: 1 or 0. */
  readonly synchronised: number
  /** How much the clock is made faster. Unit: parts of one. */
  readonly frequency_adjustment_ratio: number
  /** TAI − UTC. Unit: seconds; 0 if nobody has told the kernel. */
  readonly tai_offset_seconds: number
}

/** `struct timex`, the same on x86-64 and arm64. Unit of offsets and size: bytes. */
const TIMEX = { offset: 8, freq: 16, maxError: 24, estimatedError: 32, status: 40, tai: 160, size: 208 } as const
/** Bits of the status: nobody synchronises the clock; its offset is in nanoseconds. */
const STA_UNSYNC = 0x40
const STA_NANO = 0x2000
const MICRO = 1e-6
/** The unit of the frequency: parts in a million with 16 bits behind the point. */
const FREQUENCY = 1e-6 / 65_536

/** Asks the kernel. It changes nothing (`modes` is 0), so it needs no capability. */
export function readClock(): ClockState {
  const adjtimex = koffi.load(null).func('int adjtimex(void *timex)')
  const timex = Buffer.alloc(TIMEX.size)
  if (adjtimex(timex) < 0) throw new Error(`adjtimex answers errno ${koffi.errno()}`)
  return parseTimex(timex)
}

/** Parses `struct timex`. */
export function parseTimex(timex: Buffer): ClockState {
  if (endianness() !== 'LE') throw new Error('the layout of timex is known for little-endian machines only')
  const long = (at: number): number => Number(timex.readBigInt64LE(at))
  const status = timex.readInt32LE(TIMEX.status)
  return {
    offset_seconds: long(TIMEX.offset) * ((status & STA_NANO) === 0 ? MICRO : 1e-9),
    max_error_seconds: long(TIMEX.maxError) * MICRO,
    estimated_error_seconds: long(TIMEX.estimatedError) * MICRO,
    synchronised: (status & STA_UNSYNC) === 0 ? 1 : 0,
    frequency_adjustment_ratio: long(TIMEX.freq) * FREQUENCY,
    tai_offset_seconds: timex.readInt32LE(TIMEX.tai),
  }
}
