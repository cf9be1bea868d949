import type { Integer64 } from '@sonde/sdk/internal'
import type { CounterReading } from '../wide-counter.ts'

/** The smallest packet of Ethernet. Adapters do not process smaller packets of InfiniBand at a higher rate. */
const PACKET_BYTES_MIN = 64
/** The fastest ports carry 800 Gb/s. Unit: bytes per second. */
const RATE_BYTES_MAX = 1e11

/** Creates a reading for counters that rise at most once per packet of the port, at its rate. */
export function readingNow(rateBytes: Integer64 | undefined): CounterReading {
  return { nowMs: performance.now(), eventsPerS: Number(rateBytes ?? RATE_BYTES_MAX) / PACKET_BYTES_MIN }
}
