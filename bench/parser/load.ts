import { createHash } from 'node:crypto'

const METRICS: readonly (readonly [name: string, type: 'counter' | 'gauge', help: string])[] = [
  ['DCGM_FI_DEV_SM_CLOCK', 'gauge', 'SM clock frequency (in MHz).'],
  ['DCGM_FI_DEV_MEM_CLOCK', 'gauge', 'Memory clock frequency (in MHz).'],
  ['DCGM_FI_DEV_MEMORY_TEMP', 'gauge', 'Memory temperature (in C).'],
  ['DCGM_FI_DEV_GPU_TEMP', 'gauge', 'GPU temperature (in C).'],
  ['DCGM_FI_DEV_POWER_USAGE', 'gauge', 'Power draw (in W).'],
  ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'counter', 'Total energy consumption since boot (in mJ).'],
  ['DCGM_FI_DEV_PCIE_REPLAY_COUNTER', 'counter', 'Total number of PCIe retries.'],
  ['DCGM_FI_DEV_GPU_UTIL', 'gauge', 'GPU utilization (in %).'],
  ['DCGM_FI_DEV_MEM_COPY_UTIL', 'gauge', 'Memory utilization (in %).'],
  ['DCGM_FI_DEV_ENC_UTIL', 'gauge', 'Encoder utilization (in %).'],
  ['DCGM_FI_DEV_DEC_UTIL', 'gauge', 'Decoder utilization (in %).'],
  ['DCGM_FI_DEV_XID_ERRORS', 'gauge', 'Value of the last XID error encountered.'],
  ['DCGM_FI_DEV_FB_FREE', 'gauge', 'Framebuffer memory free (in MiB).'],
  ['DCGM_FI_DEV_FB_USED', 'gauge', 'Framebuffer memory used (in MiB).'],
  ['DCGM_FI_DEV_FB_RESERVED', 'gauge', 'Framebuffer memory reserved (in MiB).'],
  ['DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS', 'counter', 'Number of remapped rows for uncorrectable errors'],
  ['DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS', 'counter', 'Number of remapped rows for correctable errors'],
  ['DCGM_FI_DEV_ROW_REMAP_FAILURE', 'gauge', 'Whether remapping of rows has failed'],
  ['DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL', 'counter', 'Total number of NVLink bandwidth counters for all lanes.'],
  ['DCGM_FI_DEV_VGPU_LICENSE_STATUS', 'gauge', 'vGPU License status'],
  ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'gauge', 'Ratio of time the graphics engine is active.'],
  ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'gauge', 'Ratio of cycles the tensor (HMMA) pipe is active.'],
  ['DCGM_FI_PROF_DRAM_ACTIVE', 'gauge', 'Ratio of cycles the device memory interface is active.'],
  ['DCGM_FI_PROF_PCIE_TX_BYTES', 'gauge', 'The rate of data transmitted over the PCIe bus.'],
  ['DCGM_FI_PROF_PCIE_RX_BYTES', 'gauge', 'The rate of data received over the PCIe bus.'],
]

/** GPUs of all nodes together. */
export const GPUS = 400
/** Series of a body. */
export const SERIES = GPUS * METRICS.length

/** A body as dcgm-exporter writes it in Kubernetes, with pods; other values in every round. */
export function bodyOf(round: number): string {
  const labels = Array.from({ length: GPUS }, (_, gpu) => labelsOf(gpu))
  const families = METRICS.map(([name, type, help], metric) => {
    const lines = labels.map((text, gpu) => `${name}{${text}} ${sampleText(name, type, metric, gpu, round)}\n`)
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
  })
  return families.join('')
}

function labelsOf(gpu: number): string {
  const [node, index] = [Math.floor(gpu / 8), gpu % 8]
  const hex = createHash('sha256').update(`gpu ${gpu}`).digest('hex')
  const uuid = `GPU-${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
  const pod = `gpu="${index}",UUID="${uuid}",pci_bus_id="00000000:${(0x1b + index * 0x10).toString(16).toUpperCase()}:00.0"`
  const board = `device="nvidia${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-${node}"`
  return `${pod},${board},DCGM_FI_DRIVER_VERSION="570.124.06",container="worker",namespace="training",pod="llm-${hex.slice(0, 10)}-${gpu}"`
}

function sampleText(name: string, type: string, metric: number, gpu: number, round: number): string {
  const turn = (metric * 7919 + gpu * 104_729 + round * 1_299_709) % 1_000_003
  if (name.includes('PROF_PCIE')) return String(turn * 31_337)
  if (name.includes('PROF') || name.endsWith('POWER_USAGE')) return (turn / 1_000_003).toFixed(6)
  return type === 'counter' ? String(turn * 9_007_199) : String(turn % 1980)
}
