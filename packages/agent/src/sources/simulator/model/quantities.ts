import { vectorOf } from './vector.ts'

/**
 * Numbers integrated over time for each GPU: shares of time in seconds, energy in joules, bytes, events. Every reported
 * value of a GPU is such an integral or the difference of two, so power, energy, utilisation and profiling never
 * contradict each other.
 */
export const GPU_QUANTITIES = vectorOf([
  'util',
  'memoryCopy',
  'engine',
  'sm',
  'occupancy',
  'tensor',
  'dram',
  'fp64',
  'fp32',
  'fp16',
  'energyJ',
  'nvlinkTxBytes',
  'nvlinkRxBytes',
  'hostTxBytes',
  'hostRxBytes',
  'powerCapS',
  'softThermalS',
  'hardThermalS',
  'brakeS',
  'correctedErrors',
])

/** Length of a vector by {@link GPU_QUANTITIES}. */
export const GPU_COUNT = Object.keys(GPU_QUANTITIES).length

/** Numbers accumulated for each NIC since the epoch: packets, events, bits, and shares of time in seconds. */
export const NIC_QUANTITIES = vectorOf([
  'txData',
  'rxData',
  'txAck',
  'rxAck',
  'txManagement',
  'rxManagement',
  'txOther',
  'txUnguardedData',
  'txUnguardedAck',
  'requests',
  'lost',
  'tails',
  'outOfSequence',
  'ackTimeouts',
  'marked',
  'throttled',
  'rxPauses',
  'txPauses',
  'stormWarnings',
  'stormErrors',
  'discards',
  'bufferPassed',
  'lane0',
  'lane1',
  'lane2',
  'lane3',
  'bits',
  'effectiveErrors',
  'waitTicks',
  'linkDowns',
  'carrierChanges',
  'stallEvents',
  'pcieReads',
  'cacheHits',
  'cacheMisses',
  'deschedules',
  'rxPauseS',
  'txPauseS',
  'stallS',
  'readLatencyS',
])

/** Length of a vector by {@link NIC_QUANTITIES}. */
export const NIC_COUNT = Object.keys(NIC_QUANTITIES).length

/**
 * From this index on, a vector by {@link NIC_QUANTITIES} holds seconds with fractions; all other numbers are whole once
 * read.
 */
export const NIC_FRACTIONS_FROM = NIC_QUANTITIES.rxPauseS

/** Numbers accumulated for the host: time in which some tasks wait, and in which all of them wait. */
export const HOST_QUANTITIES = vectorOf(['ioWaitingS', 'ioStalledS', 'cpuWaitingS'])
/** Length of a vector by {@link HOST_QUANTITIES}. */
export const HOST_COUNT = Object.keys(HOST_QUANTITIES).length

/** Activities of a NIC that make its numbers grow. */
export const BASIS = vectorOf(['elapsedS', 'txSteps', 'rxSteps'])
/** Length of a vector by {@link BASIS}. */
export const BASIS_COUNT = Object.keys(BASIS).length
