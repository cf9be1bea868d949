import { docaPhyLaneType, docaPhyType } from '../../doca-telemetry-phy/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { laneShare } from '../model/bit-errors.ts'
import type { NicReader } from '../observe/nic-reader.ts'
import type { NicReading } from '../observe/nic-reading.ts'
import { LANES, type NicColumns, type NicLane, type NicRow, type NicTable } from './nic-table.ts'

const DAY_S = 86_400
/** Effective bit error rate of a port without any error so far. */
const NO_ERROR_BER = 15e-255
/** Received power without light. Unit: dBm. */
const DARK_DBM = -40

const PHY: NicColumns<typeof docaPhyType> = {
  link_up: ({ live }) => (live.isUp ? 1 : 0),
  speed_bytes_per_second: ({ live }) => live.trainedBytesPerS,
  link_down_total: 'linkDowns',
  link_recovery_total: ({ live }) => live.events('link_recovery'),
  effective_errors_total: 'effectiveErrors',
  raw_bit_error_ratio: ({ live }) => live.rawBer,
  effective_bit_error_ratio: ({ live }) => effectiveBer(live),
  temperature_celsius: ({ live }) => moduleCelsius(live),
  supply_volts: ({ live }) => 3.3 + 0.04 * (live.own(12) - 0.5),
}

function laneColumns(lane: NicLane): NicColumns<typeof docaPhyLaneType> {
  const spread = ({ live }: NicReader, stream: number) => live.ownOfLane(lane, stream) - 0.5
  return {
    raw_errors_total: `lane${lane}`,
    raw_bit_error_ratio: ({ live }) => laneBer(live, lane),
    tx_bias_amperes: (nic) => (0.0075 + 0.0006 * spread(nic, 15)) * biasFactor(nic.live, lane),
    tx_power_dbm: (nic) => 1.4 + 0.6 * spread(nic, 13),
    rx_power_dbm: (nic) => (nic.live.isUp ? 0.3 + spread(nic, 14) + lostDb(nic.live, lane) : DARK_DBM),
    rx_los: ({ live }) => (live.isUp ? 0 : 1),
    snr_media_db: (nic) => 22.5 + spread(nic, 16) + lostDb(nic.live, lane),
  }
}

function effectiveBer({ isUp, effect, nic }: NicReading): number {
  const { effectiveErrorsPerS = 0 } = effect
  if (!isUp) return Number.NaN
  return effectiveErrorsPerS > 0 ? effectiveErrorsPerS / nic.model.rawBitsPerS : NO_ERROR_BER
}

/** In steps of 0.1 °C. */
function moduleCelsius(live: NicReading): number {
  const wave = 1.5 * Math.sin((2 * Math.PI * (live.atS - DAY_S * 0.375)) / DAY_S)
  return Math.round(10 * (55 + 5 * (live.own(11) - 0.5) + wave)) / 10
}

function laneBer({ rawBer, effect, nic }: NicReading, lane: number): number {
  const { lanes } = nic.model
  return rawBer * lanes * laneShare(lane, lanes, effect.worstLane)
}

/** If the worst lane is known, only the optics of this lane age. */
function isAged({ effect: { worstLane } }: NicReading, lane: number): boolean {
  return worstLane === undefined || worstLane === lane
}

function lostDb(live: NicReading, lane: number): number {
  return isAged(live, lane) ? (live.effect.rxPowerDb ?? 0) : 0
}

function biasFactor(live: NicReading, lane: number): number {
  return isAged(live, lane) ? (live.effect.biasFactor ?? 1) : 1
}

/** Records of ports and their modules from DOCA. */
export function docaPhyTables(nics: readonly NicPlace[]): NicTable[] {
  return [
    { type: docaPhyType, columns: PHY, rows: nics.map(phyRow) },
    ...LANES.map((lane) => ({
      type: docaPhyLaneType,
      columns: laneColumns(lane),
      rows: nics
        .filter(({ model }) => lane < model.lanes)
        .map((nic) => ({ nic, labels: { rdma_device: nic.device, lane } })),
    })),
  ]
}

function phyRow(nic: NicPlace): NicRow {
  const facts = {
    vendor: 'NVIDIA',
    part_number: 'MMS4X00-NS400',
    serial: `MT2351FT${(17_300 + nic.index * 11).toString()}`,
    fec: 'standard RS 544/514',
    lanes: nic.model.lanes,
    temperature_high_celsius: 75,
    round_trip_seconds: 260e-9,
  }
  const onInfiniBand = 'counted on InfiniBand only'
  const reasons = { symbol_errors_total: onInfiniBand, symbol_error_ratio: onInfiniBand }
  return { nic, labels: { rdma_device: nic.device }, facts, reasons }
}
