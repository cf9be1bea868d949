import type { Integer64 } from '@sonde/sdk/internal'
import type { Reading } from '../wide-counter.ts'

/** The smallest packet of Ethernet; adapters process no more small ones of InfiniBand either. */
const PACKET_BYTES_MIN = 64
/** The fastest port there is carries 800 Gb/s. Unit: bytes per second. */
const RATE_BYTES_MAX = 1e11

/** A reading now of counters that count no more than a port passes packets, by its rate. */
export function readingNow(rateBytes: Integer64 | undefined): Reading {
  return { nowMs: performance.now(), eventsPerS: Number(rateBytes ?? RATE_BYTES_MAX) / PACKET_BYTES_MIN }
}
