import { counter, defineType, gauge, label, labelNumber, optional, text, timestamp } from '@sonde/sdk'
import { originLabel } from '../origins/metric-origins.ts'

const entity = { kind: 'nic', key: ['rdma_device'] }

const rdma_device = label('RDMA device, such as mlx5_0')
const count = (help: string) => optional(counter('u64', { help }))
const ratio = (help: string) => optional(gauge('f64', { unit: 'ratio', help }))

/** The link and its cable or module. */
export const docaPhyType = defineType(
  'doca_phy',
  'Link, errors and module of one port',
  {
    time: timestamp(),
    rdma_device,
    vendor: text({ help: 'Vendor of cable or module' }),
    part_number: text({ help: 'Part number of cable or module' }),
    serial: text({ help: 'Serial number of cable or module' }),
    fec: text({ help: 'Forward error correction in use' }),
    link_up: optional(gauge('u8', { help: '1 while the link is up' })),
    speed_bytes_per_second: optional(
      gauge('u64', { unit: 'bytes_per_second', help: 'Speed of the link in bytes per second' }),
    ),
    lanes: optional(gauge('u8', { help: 'Lanes of the link' })),
    link_down_total: count('Times the link went down'),
    link_recovery_total: count('Times the link was recovered without going down'),
    symbol_errors_total: count('Symbol errors; on InfiniBand only'),
    effective_errors_total: count('Errors that remained after correction'),
    raw_bit_error_ratio: ratio('Share of wrong bits before correction'),
    effective_bit_error_ratio: ratio('Share of wrong bits after correction'),
    symbol_error_ratio: ratio('Share of wrong symbols; on InfiniBand only'),
    temperature_celsius: optional(gauge('f64', { unit: 'celsius', help: 'Temperature of the module' })),
    temperature_high_celsius: optional(
      gauge('f64', { unit: 'celsius', help: 'Temperature at which the module warns' }),
    ),
    supply_volts: optional(gauge('f64', { unit: 'volts', help: 'Supply voltage of the module' })),
    round_trip_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Round trip over the cable, there and back' })),
  },
  {
    entity,
    core: [
      'link_up',
      'effective_errors_total',
      'raw_bit_error_ratio',
      'effective_bit_error_ratio',
      'symbol_error_ratio',
      'temperature_celsius',
      'temperature_high_celsius',
    ],
  },
)

/** One lane of a link. */
export const docaPhyLaneType = defineType(
  'doca_phy_lane',
  'Errors and optical power of one lane',
  {
    time: timestamp(),
    rdma_device,
    lane: labelNumber('u8', 'Lane, from 0'),
    raw_errors_total: count('Bit errors before correction'),
    raw_bit_error_ratio: ratio('Share of wrong bits before correction'),
    tx_bias_amperes: optional(gauge('f64', { unit: 'amperes', help: 'Bias current of the laser' })),
    tx_power_dbm: optional(gauge('f64', { unit: 'dbm', help: 'Optical power sent' })),
    rx_power_dbm: optional(gauge('f64', { unit: 'dbm', help: 'Optical power received' })),
    rx_los: optional(gauge('u8', { help: '1 if the module receives no light; stays until it is read' })),
    snr_media_db: optional(gauge('f64', { unit: 'db', help: 'Signal to noise on the optical side' })),
  },
  { entity, core: [] },
)

/**
 * Errors of the link of a port. The metric has the name and the labels of the recipe for Kubernetes, which expects it
 * from the diagnostic counters. No diagnostic counter counts such errors.
 */
export const docaDiagLinkType = defineType(
  'doca_diag_link',
  'Errors of the link of one port',
  {
    time: timestamp(),
    device: rdma_device,
    port: labelNumber('u8', 'Port of the device, from 1'),
    type: label('Kind of error, such as symbol_error'),
    origin: originLabel('doca_diag_link_errors'),
    errors: counter('u64', {
      metric: 'doca_diag_link_errors',
      help: 'Errors of the link by kind, counted where origin says; no diagnostic counter counts them',
    }),
  },
  { entity: { kind: 'nic', key: ['device', 'port'] }, core: ['errors'] },
)
