import type { DeviceInfo } from '../../api/devices.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import {
  BYTES_PER_SECOND,
  CELSIUS,
  COUNT,
  MEBIBYTES,
  MEGAHERTZ,
  NANOSECONDS_SHARE,
  PER_SECOND,
  PERCENT,
  PERCENT_WHOLE,
  WATTS,
} from '../../format/quantity.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel } from '../device/panel.ts'

const device = (name: string): string => `DCGM_FI_DEV_${name}`
const profile = (name: string): string => `DCGM_FI_PROF_${name}`

const REASON = 'CLOCKS_EVENT_REASON'
const GPU_SLOTS: readonly SeriesSlot[] = [2, 1, 3, 4, 5]
const NO_PROFILE = 'No source reads the profiling counters of this GPU.'
const NO_NVML = 'No source reads this GPU by its management library.'

/** The panels of a GPU. */
export function gpuPanels({ limits }: DeviceInfo): readonly DevicePanel[] {
  return [
    {
      id: 'activity',
      title: 'Activity',
      quantity: PERCENT,
      scale: 'percent',
      slots: GPU_SLOTS,
      lines: [
        last(profile('SM_ACTIVE'), 'SM'),
        last(profile('PIPE_TENSOR_ACTIVE'), 'tensor'),
        last(profile('DRAM_ACTIVE'), 'DRAM'),
        last(profile('PIPE_FP16_ACTIVE'), 'FP16'),
        last(profile('PIPE_FP32_ACTIVE'), 'FP32'),
      ],
      without: NO_PROFILE,
    },
    {
      id: 'utilisation',
      title: 'Utilisation',
      caption: 'a kernel was running',
      quantity: PERCENT_WHOLE,
      scale: 'percent',
      slots: GPU_SLOTS,
      lines: [last(device('GPU_UTIL'), 'GPU'), last(device('MEM_COPY_UTIL'), 'memory')],
      without: NO_NVML,
    },
    {
      id: 'throttle',
      title: 'Throttle',
      caption: 'of time, by reason',
      quantity: NANOSECONDS_SHARE,
      scale: 'lanes',
      slots: GPU_SLOTS,
      lines: [
        rate(device(`${REASON}_SW_POWER_CAP_NS`), 'power cap'),
        rate(device(`${REASON}_SW_THERM_SLOWDOWN_NS`), 'software heat'),
        rate(device(`${REASON}_HW_THERM_SLOWDOWN_NS`), 'hardware heat'),
        rate(device(`${REASON}_HW_POWER_BRAKE_SLOWDOWN_NS`), 'power brake'),
        rate(device(`${REASON}_SYNC_BOOST_NS`), 'sync boost'),
      ],
      without: NO_NVML,
    },
    {
      id: 'power',
      title: 'Power',
      quantity: WATTS,
      slots: GPU_SLOTS,
      lines: [last(device('POWER_USAGE'), 'mean of 1 s'), last(device('POWER_USAGE_INSTANT'), 'newest reading')],
      limits: [{ label: 'limit', metric: device('ENFORCED_POWER_LIMIT'), value: limits.power_watts }],
      without: NO_NVML,
    },
    {
      id: 'clocks',
      title: 'Clocks',
      quantity: MEGAHERTZ,
      slots: GPU_SLOTS,
      lines: [last(device('SM_CLOCK'), 'SM'), last(device('MEM_CLOCK'), 'memory')],
      without: NO_NVML,
    },
    {
      id: 'temperature',
      title: 'Temperature',
      quantity: CELSIUS,
      scale: 'free',
      slots: GPU_SLOTS,
      lines: [last(device('GPU_TEMP'), 'GPU'), last(device('MEMORY_TEMP'), 'memory')],
      limits: [{ label: 'GPU slows at', metric: 'nvml_gpu_slowdown_celsius' }],
      without: NO_NVML,
    },
    {
      id: 'memory',
      title: 'Memory',
      quantity: MEBIBYTES,
      slots: GPU_SLOTS,
      lines: [last(device('FB_USED'), 'used'), last(device('FB_RESERVED'), 'reserved')],
      limits: [{ label: 'total', metric: device('FB_TOTAL') }],
      without: NO_NVML,
    },
    {
      id: 'nvlink',
      title: 'NVLink',
      caption: 'all links together',
      quantity: BYTES_PER_SECOND,
      slots: GPU_SLOTS,
      lines: [last(profile('NVLINK_TX_BYTES'), 'sent'), last(profile('NVLINK_RX_BYTES'), 'received')],
      without: NO_PROFILE,
    },
    {
      id: 'nvlink-errors',
      title: 'NVLink errors',
      caption: 'all links together',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [2],
      lines: [
        rate(device('NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL'), 'flit CRC'),
        rate(device('NVLINK_CRC_DATA_ERROR_COUNT_TOTAL'), 'data CRC'),
        rate(device('NVLINK_REPLAY_ERROR_COUNT_TOTAL'), 'sent again'),
        rate(device('NVLINK_RECOVERY_ERROR_COUNT_TOTAL'), 'trained again'),
      ],
      without: NO_NVML,
    },
    {
      id: 'pcie',
      title: 'PCIe',
      quantity: BYTES_PER_SECOND,
      slots: [7, 3],
      lines: [last(profile('PCIE_TX_BYTES'), 'sent'), last(profile('PCIE_RX_BYTES'), 'received')],
      limits: [
        { label: 'link', metric: 'pci_device_current_link_bandwidth_bytes_per_second', value: limits.pcie_bytes_per_s },
      ],
      without: NO_PROFILE,
    },
    {
      id: 'pcie-link',
      title: 'PCIe link',
      quantity: COUNT,
      scale: 'lanes',
      slots: [7],
      lines: [
        { ...last(device('PCIE_LINK_GEN'), 'generation'), full: 'nvml_gpu_pcie_generation_max' },
        { ...last(device('PCIE_LINK_WIDTH'), 'lanes'), full: 'nvml_gpu_pcie_width_max_lanes' },
      ],
      without: NO_NVML,
    },
    {
      id: 'errors',
      title: 'Errors',
      caption: 'memory and PCIe',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [2],
      lines: [
        rate(device('ECC_SBE_VOL_TOTAL'), 'ECC corrected'),
        rate(device('ECC_DBE_VOL_TOTAL'), 'ECC uncorrected'),
        rate(device('PCIE_REPLAY_COUNTER'), 'PCIe replays'),
      ],
      without: NO_NVML,
    },
    {
      id: 'nvlink-links',
      title: 'NVLink by link',
      quantity: BYTES_PER_SECOND,
      lines: [],
      without: 'No source reads single NVLink links; their sum is above.',
    },
    {
      id: 'processes',
      title: 'Processes',
      quantity: COUNT,
      lines: [],
      without: 'No source of this node reads which processes use a GPU.',
    },
  ]
}
