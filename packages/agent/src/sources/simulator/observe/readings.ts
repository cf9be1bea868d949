import { NIC, NIC_COUNT } from '../model/quantities.ts'
import { vectorOf } from '../model/vector.ts'

/** What is read from the PCIe link of any device. */
export const PCI_READ = vectorOf([
  'generation',
  'width',
  'gigatransfers',
  'bandwidth',
  'correctable',
  'nonfatal',
  'fatal',
])

/** Length of a vector by {@link PCI_READ}. */
export const PCI_READ_COUNT = Object.keys(PCI_READ).length

/** What is read from a bridge: its link and its own errors, then the messages that a root port got from below. */
export const BRIDGE_READ = {
  ...PCI_READ,
  ...vectorOf(['messagesCorrectable', 'messagesNonfatal', 'messagesFatal'], PCI_READ_COUNT),
}

/** Length of a vector by {@link BRIDGE_READ}. */
export const BRIDGE_READ_COUNT = Object.keys(BRIDGE_READ).length

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
])

/** Length of a vector by {@link GPU_READ}. */
export const GPU_READ_COUNT = Object.keys(GPU_READ).length

/** Everything that is read from a NIC at one moment: the numbers of {@link NIC} as whole ones, then what is made of them. NaN is absent. */
export const NIC_READ = {
  ...NIC,
  ...vectorOf(
    [
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
      'trainedSpeed',
      'stallRatio',
      'linkGeneration',
      'linkWidth',
      'rawBer',
      'effectiveBer',
      'moduleCelsius',
      'moduleVolts',
      'lightLost',
      'latencyMaxS',
      'latencyMinS',
      'recoveries',
      'elapsedMs',
      'dpaActiveS',
    ],
    NIC_COUNT,
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
