import { NO_DATA, type PanelDescription, panel, panelOf, type RowDescription } from './description.ts'
import { CLOCK_REASONS, type GpuChoice } from './gpu-names.ts'

const rate = (selector: string) => `rate(${selector}[$__rate_interval])`
const hourly = (selector: string) => `increase(${selector}[1h])`

/** A mean in 0 to 1 over the GPUs of a series of the chart. */
function ratio(title: string, metric: string, gpus: GpuChoice, help: string): PanelDescription {
  return panel(title, 'percentunit', [`avg by (${gpus.by}) (${gpus(metric)} <= 1)`, gpus.legend], {
    ...{ help, noData: NO_DATA.profiling, min: 0, max: 1 },
  })
}

/** What GPUs do: the numbers of the page of an app. */
export function activityRow(gpus: GpuChoice): RowDescription {
  const { by, legend } = gpus
  return {
    title: 'Activity',
    panels: [
      panel('Utilisation', 'percent', [`avg by (${by}) (${gpus('DCGM_FI_DEV_GPU_UTIL')} <= 100)`, legend], {
        help: 'Share of time in which any kernel ran. A GPU at 100 % can still be mostly idle: see SM active.',
        ...{ noData: `${NO_DATA.gpu}. A MIG instance has no utilisation`, min: 0, max: 100 },
      }),
      ratio('Tensor active', 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', gpus, 'Cycles in which the tensor pipe was busy.'),
      ratio('SM active', 'DCGM_FI_PROF_SM_ACTIVE', gpus, 'Cycles in which an SM had a warp, as mean of all SMs.'),
      ratio('Memory active', 'DCGM_FI_PROF_DRAM_ACTIVE', gpus, 'Cycles in which the memory moved data.'),
      ratio('FP16 active', 'DCGM_FI_PROF_PIPE_FP16_ACTIVE', gpus, 'Cycles in which the FP16 pipe was busy.'),
      ratio('FP32 active', 'DCGM_FI_PROF_PIPE_FP32_ACTIVE', gpus, 'Cycles in which the FP32 pipe was busy.'),
      panel('Memory used', 'bytes', [`sum by (${by}) (${gpus('DCGM_FI_DEV_FB_USED')} < 2e9) * 1048576`, legend], {
        help: 'The metric is in MiB; the panel shows bytes.',
        ...{ noData: NO_DATA.gpu, min: 0 },
      }),
      panel('Memory total', 'bytes', [memoryTotal(gpus), legend], {
        help: 'Used, free and reserved together. A GPU of which a part is missing has no total.',
        ...{ noData: `${NO_DATA.gpu}, or DCGM_FI_DEV_FB_RESERVED is not in its list`, min: 0 },
      }),
      panel('Power', 'watt', [`sum by (${by}) (${gpus('DCGM_FI_DEV_POWER_USAGE')} < 1e5)`, legend], {
        ...{ help: 'Power of the board.', noData: NO_DATA.gpu, min: 0 },
      }),
    ],
  }
}

function memoryTotal(gpus: GpuChoice): string {
  const [used, free, reserved] = ['USED', 'FREE', 'RESERVED'].map(
    (part) => `sum by (${gpus.by}) (${gpus(`DCGM_FI_DEV_FB_${part}`)} < 2e9)`,
  )
  return `(${used} + ${free} + ${reserved}) * 1048576`
}

/** Clocks, PCIe, NVLink and heat. */
export function hardwareRow(gpus: GpuChoice): RowDescription {
  const { by, legend } = gpus
  const clock = (which: string) => `max by (${by}) (${gpus(`DCGM_FI_DEV_${which}_CLOCK`)} < 1e6) * 1e6`
  const bytes = (which: string) => `sum by (${by}) (${gpus(`DCGM_FI_PROF_${which}_BYTES`)})`
  return {
    title: 'Clocks, links and heat',
    panels: [
      panel('SM clock', 'hertz', [clock('SM'), legend], {
        ...{ help: 'The clock of the SMs. Idle GPUs lower it.', noData: NO_DATA.gpu, min: 0 },
      }),
      panel('Memory clock', 'hertz', [clock('MEM'), legend], {
        ...{ help: 'The clock of the memory.', noData: NO_DATA.fullGpu, min: 0 },
      }),
      panelOf(
        'Temperature',
        'celsius',
        [
          [`max by (${by}) (${gpus('DCGM_FI_DEV_GPU_TEMP')} < 1000)`, legend],
          [`max by (${by}) (${gpus('DCGM_FI_DEV_MEMORY_TEMP')} < 1000)`, `${legend} memory`],
        ],
        { help: 'GPU and memory. Each model has limits of its own.', noData: NO_DATA.gpu, warning: 85, critical: 95 },
      ),
      panelOf(
        'PCIe',
        'Bps',
        [
          [bytes('PCIE_TX'), `${legend} sent`],
          [bytes('PCIE_RX'), `${legend} received`],
        ],
        { help: 'Bytes a second over PCIe, headers included.', noData: NO_DATA.profiling, min: 0 },
      ),
      panelOf(
        'NVLink',
        'Bps',
        [
          [bytes('NVLINK_TX'), `${legend} sent`],
          [bytes('NVLINK_RX'), `${legend} received`],
        ],
        { help: 'Bytes a second over all links of the GPU.', noData: NO_DATA.profiling, min: 0 },
      ),
      panelOf(
        'GPUs with lower clocks, by reason',
        'short',
        CLOCK_REASONS.map(([bit, reason]) => {
          const mask = gpus('DCGM_FI_DEV_CLOCKS_EVENT_REASONS')
          return [`sum(floor(${mask} / ${bit}) % 2)`, reason] as const
        }),
        {
          help: 'The bits of the mask of reasons, decoded: GPUs for which each holds now.',
          noData: NO_DATA.fullGpu,
          min: 0,
        },
      ),
    ],
  }
}

/** Errors that end jobs, or say that a part is failing. */
export function errorRow(gpus: GpuChoice): RowDescription {
  const { by, legend } = gpus
  return {
    title: 'Errors',
    panels: [
      panel('Last XID', 'short', [`max by (${by}) (${gpus('DCGM_FI_DEV_XID_ERRORS')}) > 0`, legend], {
        help: 'The number of the last XID error, not a count: 79 is a GPU that fell off the bus.',
        noData: NO_DATA.none,
      }),
      panelOf(
        'ECC errors',
        'short',
        [
          [`sum by (${by}) (${gpus('DCGM_FI_DEV_ECC_SBE_VOL_TOTAL', hourly)})`, `${legend} corrected`],
          [`sum by (${by}) (${gpus('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL', hourly)})`, `${legend} uncorrectable`],
        ],
        { help: 'Errors of the memory within an hour.', noData: NO_DATA.fullGpu, min: 0 },
      ),
      panelOf(
        'Remapped rows',
        'short',
        [
          [`max by (${by}) (${gpus('DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS')})`, `${legend} remapped`],
          [`max by (${by}) (${gpus('DCGM_FI_DEV_ROW_REMAP_FAILURE')})`, `${legend} failure`],
        ],
        {
          help: 'Rows of memory that were replaced. A failure means that the GPU must be replaced.',
          noData: NO_DATA.fullGpu,
        },
      ),
      panel('PCIe replays', 'short', [`sum by (${by}) (${gpus('DCGM_FI_DEV_PCIE_REPLAY_COUNTER', rate)})`, legend], {
        ...{ help: 'Retries a second. A good link has none.', noData: NO_DATA.fullGpu, min: 0 },
      }),
      panelOf(
        'NVLink errors',
        'short',
        [
          [`sum by (${by}) (${gpus('DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL', rate)})`, `${legend} CRC`],
          [`sum by (${by}) (${gpus('DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL', rate)})`, `${legend} replays`],
        ],
        { help: 'Errors a second over all links of the GPU.', noData: NO_DATA.fullGpu, min: 0 },
      ),
      panel(
        'Energy',
        'joule',
        [`sum by (${by}) (${gpus('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', hourly)}) / 1000`, legend],
        {
          ...{ help: 'Energy of an hour. The metric is in millijoules.', noData: NO_DATA.fullGpu, min: 0 },
        },
      ),
    ],
  }
}
