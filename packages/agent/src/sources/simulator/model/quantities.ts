/** Names of the numbers in a vector, in its order. */
function vectorOf<const Names extends readonly string[]>(names: Names): { readonly [Name in Names[number]]: number } {
  return Object.fromEntries(names.map((name, index) => [name, index])) as { [Name in Names[number]]: number }
}

/**
 * What is integrated over time on each GPU: shares of time in seconds, energy in joules, bytes, events. Every value that a GPU shows is an integral at one
 * moment, or the difference of two, so that power, energy, use and profiling never contradict each other.
 */
export const GPU = vectorOf([
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

/** Length of a vector by {@link GPU}. */
export const GPU_COUNT = Object.keys(GPU).length

/** What is accumulated on each NIC since the epoch: packets, events, bits, and shares of time in seconds. */
export const NIC = vectorOf([
  'txData',
  'rxData',
  'txAck',
  'rxAck',
  'txManagement',
  'rxManagement',
  'txOther',
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
  'cacheRequests',
  'cacheMisses',
  'deschedules',
  'rxPauseS',
  'txPauseS',
  'stallS',
  'readLatencyS',
])

/** Length of a vector by {@link NIC}. */
export const NIC_COUNT = Object.keys(NIC).length

/** From here on a vector by {@link NIC} holds seconds, which stay fractions; all before are whole numbers once read. */
export const NIC_FRACTIONS_FROM = NIC.rxPauseS

/** What goes on at a NIC, by which its numbers grow. */
export const BASIS = vectorOf(['elapsedS', 'txSteps', 'rxSteps'])
/** Length of a vector by {@link BASIS}. */
export const BASIS_COUNT = Object.keys(BASIS).length

/** Everything that is read from a GPU at one moment, each as its origin shows it. NaN is absent. */
export const GPU_READ = vectorOf([
  'util',
  'memoryCopy',
  'codec',
  'smClock',
  'memoryClock',
  'celsius',
  'memoryCelsius',
  'power',
  'powerInstant',
  'limit',
  'energyMj',
  'reasons',
  'powerCapNs',
  'softThermalNs',
  'hardThermalNs',
  'brakeNs',
  'thermalNs',
  'pstate',
  'memoryUsed',
  'memoryFree',
  'linkGeneration',
  'linkWidth',
  'linkTransfers',
  'linkBandwidth',
  'replays',
  'lastXid',
  'correctedErrors',
  'uncorrectedErrors',
  'correctedAgg',
  'uncorrectedAgg',
  'correctedRows',
  'uncorrectedRows',
  'remapFailure',
  'remapPending',
  'nvlinkCrc',
  'nvlinkReplays',
  'mig',
  'recovery',
  'engine',
  'sm',
  'occupancy',
  'tensor',
  'dram',
  'fp64',
  'fp32',
  'fp16',
  'pcieTx',
  'pcieRx',
  'nvlinkTx',
  'nvlinkRx',
  'aerCorrectable',
  'aerNonfatal',
  'aerFatal',
])

/** Length of a vector by {@link GPU_READ}. */
export const GPU_READ_COUNT = Object.keys(GPU_READ).length

/** Everything that is read from a NIC at one moment: the numbers of {@link NIC} as whole ones, then what is made of them. NaN is absent. */
export const NIC_READ = {
  ...NIC,
  ...offset(
    NIC_COUNT,
    vectorOf([
      'cnpSent',
      'correctedBits',
      'crcErrors',
      'icrcErrors',
      'symbolErrors16',
      'linkRecoveries',
      'linkRecoveries8',
      'linkDowned8',
      'bufferOverruns4',
      'saturated',
      'duplicates',
      'sequenceErrors',
      'ackTimeoutsAll',
      'retriesExceeded',
      'rnrRetries',
      'adaptiveRetries',
      'cacheHits',
      'up',
      'portState',
      'physicalState',
      'speed',
      'stallRatio',
      'linkGeneration',
      'linkWidth',
      'linkTransfers',
      'linkBandwidth',
      'rawBer',
      'effectiveBer',
      'moduleCelsius',
      'moduleVolts',
      'lightLost',
      'latencyMaxS',
      'latencyMinS',
      'aerCorrectable',
      'aerNonfatal',
      'aerFatal',
      'recoveries',
      'elapsedMs',
      'dpaActiveS',
    ]),
  ),
}

const NIC_READ_NAMED = Object.keys(NIC_READ).length
/** What is read from each lane of a port; a vector by {@link NIC_READ} ends with as many of these as there are lanes at most. */
export const LANE_READ = vectorOf(['ber', 'rxPowerDbm', 'txPowerDbm', 'biasAmperes', 'signalDb'])
const LANE_READ_COUNT = Object.keys(LANE_READ).length
/** Lanes of a port at most. */
const LANES_LIMIT = 4

/** Place of a number of a lane in a vector by {@link NIC_READ}. */
export function laneNumber(lane: number, number: number): number {
  return NIC_READ_NAMED + lane * LANE_READ_COUNT + number
}

/** Length of a vector by {@link NIC_READ}. */
export const NIC_READ_COUNT = NIC_READ_NAMED + LANES_LIMIT * LANE_READ_COUNT

function offset<V extends Readonly<Record<string, number>>>(by: number, vector: V): V {
  return Object.fromEntries(Object.entries(vector).map(([name, index]) => [name, index + by])) as V
}
