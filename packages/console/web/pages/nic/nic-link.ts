import type { Fact } from '../../components/facts.tsx'
import { ABSENT, formatQuantity } from '../../format/number.ts'
import {
  BIT_ERROR_RATIO,
  CELSIUS,
  DECIBEL_MILLIWATTS,
  DECIBELS,
  PER_SECOND,
  SECONDS,
  UP_OR_DOWN,
} from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { numberFact } from '../device/facts.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel } from '../device/panel.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'
import { driver, NO_DRIVER, NO_RDMA, port } from './nic-lines.ts'

/** Lowest state of an RDMA port that carries traffic. */
const ACTIVE_MIN = 4
/** The physical state of a link that is up. */
const LINK_UP = 5
/** Kinds of link errors, short enough for the room beside a chart. */
const LINK_ERRORS: Readonly<Record<string, string>> = {
  link_downed: 'link down',
  link_error_recovery: 'recovered',
  symbol_error: 'symbol',
  effective_error: 'effective',
  port_rcv_errors: 'received',
  local_link_integrity_errors: 'integrity',
  excessive_buffer_overrun_errors: 'overrun',
}
const NO_MODULE = 'No source reads the cable or module of this port.'

/** Bit errors, their correction, module and state of a link. */
export function linkSection(): DeviceSection {
  return { id: 'link', title: 'Link quality', facts: linkFacts, panels: [...errors(), ...module()] }
}

function linkFacts({ last, infos, judge }: DeviceReadings): readonly Fact[] {
  const { vendor = '', part_number = '', serial = '', fec = '' } = infos('doca_phy_info').at(-1) ?? {}
  const high = last('doca_phy_temperature_high_celsius')
  const ratio = (label: string, metric: string, caption: string) =>
    judge(numberFact(label, BIT_ERROR_RATIO, last(metric), caption), metric)
  return [
    ratio('Effective bit error ratio', 'doca_phy_effective_bit_error_ratio', 'after correction'),
    ratio('Raw bit error ratio', 'doca_phy_raw_bit_error_ratio', 'before correction'),
    textFact('Error correction', fec, ''),
    textFact('Cable or module', part_number, [vendor, serial].filter(Boolean).join(', ')),
    judge(
      numberFact(
        'Module temperature',
        CELSIUS,
        last('doca_phy_temperature_celsius'),
        Number.isNaN(high) ? '' : `warns at ${formatQuantity(CELSIUS, high)}`,
      ),
      'doca_phy_temperature_celsius',
    ),
    numberFact('Round trip', SECONDS, last('doca_phy_round_trip_seconds'), 'over the cable, there and back'),
  ]
}

function textFact(label: string, text: string, caption: string): Fact {
  return text === '' ? { label, value: ABSENT, caption: 'not reported' } : { label, value: text, caption }
}

function errors(): readonly DevicePanel[] {
  return [
    {
      id: 'errors',
      title: 'Bit error ratio',
      caption: 'wrong bits among all',
      quantity: BIT_ERROR_RATIO,
      scale: 'log',
      lines: [
        last('doca_phy_raw_bit_error_ratio', 'before correction'),
        last('doca_phy_effective_bit_error_ratio', 'after correction'),
        last('doca_phy_symbol_error_ratio', 'symbols'),
      ],
      without: 'No source reads the bit error ratios of this port; they come from the adapter, not from its driver.',
    },
    {
      id: 'diagnostic',
      title: 'Diagnostic link errors',
      caption: 'by kind',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [1],
      lines: [{ ...rate('doca_diag_link_errors', '{}'), each: 'type', words: LINK_ERRORS }],
      without: 'No source reads the link errors of the adapter; doca_telemetry_phy does.',
    },
    {
      id: 'corrected',
      title: 'Corrected bits',
      caption: 'a healthy link has some',
      quantity: PER_SECOND,
      lines: [rate(driver('rx_corrected_bit_errors_phy'), 'corrected')],
      without: NO_DRIVER,
    },
    {
      id: 'lanes',
      title: 'Bit errors by lane',
      caption: 'before correction',
      quantity: PER_SECOND,
      lines: [
        { ...rate('ethtool_lane_rx_err_phy_total', 'lane'), each: 'lane' },
        { ...rate('doca_phy_lane_raw_errors_total', 'lane'), each: 'lane' },
      ],
      without: NO_DRIVER,
    },
    {
      id: 'symbols',
      title: 'Link errors',
      caption: 'after correction',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [1],
      lines: [
        rate(driver('rx_pcs_symbol_err_phy'), 'symbols'),
        rate(driver('rx_crc_errors_phy'), 'checksum'),
        rate(port('symbol_error'), 'minor'),
        rate('doca_phy_effective_errors_total', 'effective'),
      ],
      without: NO_DRIVER,
    },
    {
      id: 'state',
      title: 'Link',
      quantity: UP_OR_DOWN,
      scale: 'lanes',
      slots: [1],
      lines: [
        { ...last('rdma_port_state', 'RDMA port'), isUp: (state) => state >= ACTIVE_MIN },
        { ...last('rdma_port_phys_state', 'physical'), isUp: (state) => state === LINK_UP },
        last('ethtool_link_detected', 'carrier'),
        last('doca_phy_link_up', 'adapter'),
      ],
      without: NO_RDMA,
    },
  ]
}

function module(): readonly DevicePanel[] {
  const optics = (
    id: string,
    title: string,
    field: string,
    quantity: DevicePanel['quantity'],
    caption: string,
  ): DevicePanel => ({
    id,
    title,
    caption,
    quantity,
    scale: 'free',
    lines: [{ ...last(`doca_phy_lane_${field}`, 'lane'), each: 'lane' }],
    without: NO_MODULE,
  })
  return [
    optics('light', 'Received light', 'rx_power_dbm', DECIBEL_MILLIWATTS, 'optical power by lane'),
    optics('noise', 'Signal to noise', 'snr_media_db', DECIBELS, 'optical side, by lane'),
    {
      id: 'module',
      title: 'Module',
      quantity: CELSIUS,
      lines: [last('doca_phy_temperature_celsius', 'temperature')],
      limits: [{ label: 'warns', metric: 'doca_phy_temperature_high_celsius' }],
      without: NO_MODULE,
    },
  ]
}
