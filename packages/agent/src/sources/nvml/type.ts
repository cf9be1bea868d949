import { counter, defineType, gauge, label, labelNumber, optional, text, timestamp } from '@sonde/sdk'
import { defineOwnType, type FieldOptions } from '@sonde/sdk/internal'

// Metric names are exactly those of DCGM, so that dashboards and rules for its exporter work. The field is the end of
// the name in lower case.

/** The labels of DCGM's exporter, with exactly its names; empty if the reader of the GPU does not know the value. */
const dcgmLabels = {
  gpu: label('Index of the GPU, as NVML counts'),
  UUID: label('UUID of the GPU'),
  device: label('Device file below /dev, such as nvidia3'),
  modelName: label('Product name'),
  Hostname: label('Name of the node that the GPU is in'),
  pci_bus_id: label('PCI address as NVML spells it, such as 00000000:9B:00.0'),
}

/** The labels of metrics with names of Sonde: one label for each kind of device, and one spelling of addresses. */
const ownLabels = {
  gpu: dcgmLabels.gpu,
  UUID: dcgmLabels.UUID,
  device_file: label('Device file below /dev, such as nvidia3'),
  modelName: dcgmLabels.modelName,
  Hostname: dcgmLabels.Hostname,
  pci_address: label('PCI address, such as 0000:9b:00.0'),
}

// Indexes may change with each start of the driver, and every node has a GPU 0. Only the UUID identifies a GPU.
const entity = { kind: 'gpu', key: ['UUID'], host: 'Hostname' }

const named = (prefix: string, field: string, options: FieldOptions): FieldOptions => ({
  ...options,
  metric: `DCGM_FI_${prefix}_${field.toUpperCase()}`,
})
const count = (field: string, help: string) => counter('u64', named('DEV', field, { help }))
const nanoseconds = (field: string, help: string) => counter('u64', named('DEV', field, { unit: 'nanoseconds', help }))
const state = (field: string, help: string) => gauge('u32', named('DEV', field, { help }))
const percent = (field: string, help: string) => gauge('u8', named('DEV', field, { unit: 'percent', help }))
const megahertz = (field: string, help: string) => gauge('u32', named('DEV', field, { unit: 'MHz', help }))
const mebibytes = (field: string, help: string) => gauge('u32', named('DEV', field, { unit: 'MiB', help }))
const watts = (field: string, help: string) => gauge('f64', named('DEV', field, { unit: 'watts', help }))
const celsius = (field: string, help: string) => gauge('i16', named('DEV', field, { unit: 'celsius', help }))
const ratio = (field: string, help: string) => gauge('f64', named('PROF', field, { unit: 'ratio', help }))
/** The byte fields of DCGM's profiling group are rates, although their names end in `_bytes`. */
const bytesPerSecond = (field: string, help: string) =>
  gauge('f64', named('PROF', field, { unit: 'bytes_per_second', help }))

/** Numbers of `nvml_gpu_info` are separate metrics: a metric that ends in `_info` is always 1, with labels. */
const number = (field: string, help: string): FieldOptions => ({ metric: `nvml_gpu_${field}`, help })
const limit = (field: string, unit: string, help: string): FieldOptions => ({
  ...number(`${field}_${unit}`, help),
  unit,
})

/** Properties and limits of a GPU: they change only with the driver or the board. */
export const nvmlGpuInfoType = defineType(
  'nvml_gpu_info',
  'Identity and hard limits of one GPU',
  {
    time: timestamp(),
    ...ownLabels,
    serial: text({ help: 'Serial number of the board; empty where it is not known' }),
    driver: text({ help: 'Version of the NVIDIA driver; empty where it is not known' }),
    vbios: text({ help: 'Version of the VBIOS; empty where it is not known' }),
    power_limit_max_watts: optional(
      gauge('f64', limit('power_limit_max', 'watts', 'Highest power limit that can be set')),
    ),
    power_limit_default_watts: optional(
      gauge('f64', limit('power_limit_default', 'watts', 'Power limit after a reset')),
    ),
    power_limit_min_watts: optional(
      gauge('f64', limit('power_limit_min', 'watts', 'Lowest power limit that can be set')),
    ),
    memory_bytes: optional(gauge('u64', limit('memory', 'bytes', 'Memory of the board, the reserved part included'))),
    multiprocessors: optional(gauge('u16', number('multiprocessors', 'Streaming multiprocessors'))),
    sm_clock_max_hertz: optional(gauge('f64', limit('sm_clock_max', 'hertz', 'Highest SM clock'))),
    memory_clock_max_hertz: optional(gauge('f64', limit('memory_clock_max', 'hertz', 'Highest memory clock'))),
    max_operating_celsius: optional(
      gauge('i16', limit('max_operating', 'celsius', 'Temperature above which software slows the GPU down')),
    ),
    slowdown_celsius: optional(
      gauge('i16', limit('slowdown', 'celsius', 'Temperature above which hardware slows the GPU down')),
    ),
    shutdown_celsius: optional(
      gauge('i16', limit('shutdown', 'celsius', 'Temperature at which the GPU switches itself off')),
    ),
    memory_max_operating_celsius: optional(
      gauge(
        'i16',
        limit('memory_max_operating', 'celsius', 'Memory temperature above which software slows the GPU down'),
      ),
    ),
    pcie_generation_max: optional(
      gauge('u8', number('pcie_generation_max', 'Highest PCIe generation that GPU and slot have in common')),
    ),
    pcie_width_max_lanes: optional(
      gauge('u8', number('pcie_width_max_lanes', 'Most PCIe lanes that GPU and slot have in common')),
    ),
    nvlink_links: optional(gauge('u8', number('nvlink_links', 'NVLink links that are up'))),
    nvlink_speed_bytes_per_second: optional(
      gauge(
        'u64',
        limit('nvlink_speed', 'bytes_per_second', 'Bytes per second and direction of all NVLink links together'),
      ),
    ),
  },
  {
    entity: {
      ...entity,
      defines: true,
      facts: ['power_limit_max_watts', 'memory_bytes', 'pcie_generation_max', 'pcie_width_max_lanes'],
      joins: [
        { by: 'pci', field: 'pci_address' },
        { by: 'uuid', field: 'UUID' },
      ],
    },
    core: [
      'power_limit_default_watts',
      'sm_clock_max_hertz',
      'slowdown_celsius',
      'memory_max_operating_celsius',
      'pcie_generation_max',
      'pcie_width_max_lanes',
    ],
  },
)

/** Management values of a GPU from NVML, under the names of DCGM. */
export const nvmlGpuType = defineType(
  'nvml_gpu',
  'State, use, power, temperature and errors of one GPU',
  {
    time: timestamp(),
    ...dcgmLabels,
    gpu_util: optional(percent('gpu_util', 'Share of time in which any kernel ran; not on a GPU that MIG has split')),
    mem_copy_util: optional(percent('mem_copy_util', 'Share of time in which memory was read or written')),
    enc_util: optional(percent('enc_util', 'Use of the video encoder')),
    dec_util: optional(percent('dec_util', 'Use of the video decoder')),
    sm_clock: optional(megahertz('sm_clock', 'SM clock')),
    mem_clock: optional(megahertz('mem_clock', 'Memory clock')),
    gpu_temp: optional(celsius('gpu_temp', 'Temperature of the GPU')),
    memory_temp: optional(celsius('memory_temp', 'Temperature of the memory')),
    power_usage: optional(watts('power_usage', 'Power drawn, mean of the last second')),
    power_usage_instant: optional(watts('power_usage_instant', 'Power drawn, newest reading of the sensor')),
    enforced_power_limit: optional(watts('enforced_power_limit', 'Power limit in force')),
    power_mgmt_limit: optional(watts('power_mgmt_limit', 'Requested power limit')),
    total_energy_consumption: optional(
      counter(
        'u64',
        named('DEV', 'total_energy_consumption', { unit: 'millijoules', help: 'Energy since the driver was loaded' }),
      ),
    ),
    clocks_event_reasons: optional(
      state(
        'clocks_event_reasons',
        'Why clocks are not at their highest, as bits: 0x1 idle, 0x4 power limit, 0x8 hardware slowdown, 0x20 software thermal, 0x40 hardware thermal, 0x80 power brake',
      ),
    ),
    clocks_event_reason_sw_power_cap_ns: optional(
      nanoseconds('clocks_event_reason_sw_power_cap_ns', 'Time at the power limit'),
    ),
    clocks_event_reason_sync_boost_ns: optional(
      nanoseconds('clocks_event_reason_sync_boost_ns', 'Time slowed down to the slowest GPU of a sync group'),
    ),
    clocks_event_reason_sw_therm_slowdown_ns: optional(
      nanoseconds('clocks_event_reason_sw_therm_slowdown_ns', 'Time slowed down by software for heat'),
    ),
    clocks_event_reason_hw_therm_slowdown_ns: optional(
      nanoseconds('clocks_event_reason_hw_therm_slowdown_ns', 'Time slowed down by hardware for heat'),
    ),
    clocks_event_reason_hw_power_brake_slowdown_ns: optional(
      nanoseconds('clocks_event_reason_hw_power_brake_slowdown_ns', 'Time slowed down by the power brake signal'),
    ),
    power_violation: optional(nanoseconds('power_violation', 'Time below wanted clocks for power')),
    thermal_violation: optional(nanoseconds('thermal_violation', 'Time below wanted clocks for heat')),
    pstate: optional(state('pstate', 'Performance state, 0 is the fastest')),
    fb_total: optional(mebibytes('fb_total', 'Memory of the board')),
    fb_free: optional(mebibytes('fb_free', 'Memory that is free')),
    fb_used: optional(mebibytes('fb_used', 'Memory that processes use, without the reserved part')),
    fb_reserved: optional(mebibytes('fb_reserved', 'Memory that driver and firmware keep')),
    pcie_link_gen: optional(
      state('pcie_link_gen', 'PCIe generation at which the link runs; low on an idle GPU that saves power'),
    ),
    pcie_link_width: optional(state('pcie_link_width', 'PCIe lanes in use')),
    pcie_replay_counter: optional(count('pcie_replay_counter', 'PCIe packets sent again')),
    xid_errors: optional(
      state('xid_errors', 'Number of the last XID error, 0 without one; stays until the driver restarts'),
    ),
    ecc_sbe_vol_total: optional(count('ecc_sbe_vol_total', 'Corrected memory errors since the driver was loaded')),
    ecc_dbe_vol_total: optional(count('ecc_dbe_vol_total', 'Uncorrected memory errors since the driver was loaded')),
    ecc_sbe_agg_total: optional(count('ecc_sbe_agg_total', 'Corrected memory errors of the board, ever')),
    ecc_dbe_agg_total: optional(count('ecc_dbe_agg_total', 'Uncorrected memory errors of the board, ever')),
    uncorrectable_remapped_rows: optional(
      count('uncorrectable_remapped_rows', 'Memory rows replaced after uncorrected errors'),
    ),
    correctable_remapped_rows: optional(
      count('correctable_remapped_rows', 'Memory rows replaced after corrected errors'),
    ),
    row_remap_failure: optional(state('row_remap_failure', '1 if a row could not be replaced: replace the board')),
    row_remap_pending: optional(state('row_remap_pending', '1 if a row will be replaced at the next reset')),
    nvlink_crc_flit_error_count_total: optional(
      count('nvlink_crc_flit_error_count_total', 'NVLink flits with a CRC error, all links'),
    ),
    nvlink_crc_data_error_count_total: optional(
      count('nvlink_crc_data_error_count_total', 'NVLink data with a CRC error, all links'),
    ),
    nvlink_replay_error_count_total: optional(
      count('nvlink_replay_error_count_total', 'NVLink packets sent again, all links'),
    ),
    nvlink_recovery_error_count_total: optional(
      count('nvlink_recovery_error_count_total', 'NVLink links trained again, all links'),
    ),
    // The exporter calls it a counter, but it is a rate.
    nvlink_bandwidth_total: optional(
      gauge('u64', named('DEV', 'nvlink_bandwidth_total', { unit: 'MiB/s', help: 'Throughput of all NVLink links' })),
    ),
    vgpu_license_status: optional(state('vgpu_license_status', '1 if the GPU has a licence for virtual GPUs')),
    mig_mode: optional(state('mig_mode', '1 if MIG splits the GPU')),
    get_gpu_recovery_action: optional(
      gauge(
        'u8',
        named('DEV', 'get_gpu_recovery_action', {
          help: 'Action that the driver requests: 0 nothing, 1 reset, 2 reboot, 3 drain peer to peer, 4 drain and reset',
        }),
      ),
    ),
  },
  {
    entity,
    core: [
      'gpu_util',
      'sm_clock',
      'gpu_temp',
      'memory_temp',
      'power_usage',
      'enforced_power_limit',
      'clocks_event_reasons',
      'clocks_event_reason_sw_power_cap_ns',
      'clocks_event_reason_sw_therm_slowdown_ns',
      'clocks_event_reason_hw_therm_slowdown_ns',
      'clocks_event_reason_hw_power_brake_slowdown_ns',
      'thermal_violation',
      'fb_total',
      'fb_free',
      'fb_used',
      'fb_reserved',
      'pcie_link_gen',
      'pcie_link_width',
      'pcie_replay_counter',
      'xid_errors',
      'ecc_sbe_vol_total',
      'ecc_dbe_vol_total',
      'uncorrectable_remapped_rows',
      'row_remap_failure',
      'row_remap_pending',
      'mig_mode',
    ],
  },
)

/** XID errors by number. A gauge of the last error would hide repeated errors and bursts. */
export const nvmlXidType = defineType(
  'nvml_xid',
  'XID errors of one GPU, by number',
  {
    time: timestamp(),
    ...ownLabels,
    xid: labelNumber('u16', 'Number of the XID error'),
    events_total: counter('u64', { help: 'Events since the driver was loaded' }),
  },
  { entity },
)

/** Readings that other readings of the same GPU contradict. They are dropped and counted here. */
export const nvmlDoubtType = defineOwnType(
  'sonde_gpu_doubt',
  'Readings of one GPU that are not believed',
  {
    time: timestamp(),
    ...ownLabels,
    doubt: label('Kind of frozen reading: profiling or nvlink'),
    readings: gauge('u8', { help: 'Readings at 0 that other readings contradict' }),
  },
  { entity },
)

const profile = {
  gr_engine_active: optional(ratio('gr_engine_active', 'Share of time in which the compute engine was busy')),
  sm_active: optional(ratio('sm_active', 'Share of cycles in which an SM had a warp, mean of all SMs')),
  sm_occupancy: optional(ratio('sm_occupancy', 'Resident warps to the most there can be')),
  pipe_tensor_active: optional(ratio('pipe_tensor_active', 'Share of cycles in which a tensor pipe was busy')),
  dram_active: optional(ratio('dram_active', 'Share of cycles in which the memory interface was busy')),
  pipe_fp64_active: optional(ratio('pipe_fp64_active', 'Share of cycles in which the FP64 pipe was busy')),
  pipe_fp32_active: optional(ratio('pipe_fp32_active', 'Share of cycles in which the FP32 pipe was busy')),
  pipe_fp16_active: optional(
    ratio('pipe_fp16_active', 'Share of cycles in which the FP16 pipe was busy, tensor pipes not counted'),
  ),
}

/** Profiling values of a GPU from GPM of NVML: means over the time between two samples. */
export const nvmlProfileType = defineType(
  'nvml_profile',
  'Activity of the units of one GPU, and bytes over its links',
  {
    time: timestamp(),
    ...dcgmLabels,
    ...profile,
    pcie_tx_bytes: optional(
      bytesPerSecond('pcie_tx_bytes', 'Bytes a second that the GPU sends over PCIe, headers included'),
    ),
    pcie_rx_bytes: optional(
      bytesPerSecond('pcie_rx_bytes', 'Bytes a second that the GPU receives over PCIe, headers included'),
    ),
    nvlink_tx_bytes: optional(bytesPerSecond('nvlink_tx_bytes', 'Bytes a second that the GPU sends over NVLink')),
    nvlink_rx_bytes: optional(bytesPerSecond('nvlink_rx_bytes', 'Bytes a second that the GPU receives over NVLink')),
  },
  {
    entity,
    core: [
      'sm_active',
      'pipe_tensor_active',
      'dram_active',
      'pipe_fp32_active',
      'pipe_fp16_active',
      'pcie_tx_bytes',
      'pcie_rx_bytes',
      'nvlink_tx_bytes',
      'nvlink_rx_bytes',
    ],
  },
)

/** Values of one MIG instance, relative to its slice of the GPU. */
export const nvmlMigType = defineType(
  'nvml_mig',
  'Activity and memory of one MIG instance',
  {
    time: timestamp(),
    ...dcgmLabels,
    GPU_I_ID: labelNumber('u8', 'Id of the MIG instance in its GPU'),
    GPU_I_PROFILE: label('Profile of the MIG instance, such as 1g.10gb'),
    ...profile,
    fb_total: optional(mebibytes('fb_total', 'Memory of the instance')),
    fb_free: optional(mebibytes('fb_free', 'Memory that is free')),
    fb_used: optional(mebibytes('fb_used', 'Memory that processes use, without the reserved part')),
    fb_reserved: optional(mebibytes('fb_reserved', 'Memory that driver and firmware keep')),
  },
  {
    entity,
    core: [
      'sm_active',
      'pipe_tensor_active',
      'dram_active',
      'pipe_fp32_active',
      'pipe_fp16_active',
      'fb_total',
      'fb_free',
      'fb_used',
      'fb_reserved',
    ],
  },
)

/** Identity of MIG instances: one record for each compute instance, by whose UUID Kubernetes names the instance. */
export const nvmlMigInfoType = defineType(
  'nvml_mig_info',
  'Identity of one MIG instance, and its GPU',
  {
    time: timestamp(),
    ...ownLabels,
    GPU_I_ID: labelNumber('u8', 'Id of the MIG instance in its GPU'),
    GPU_I_PROFILE: label('Profile of the MIG instance, such as 1g.10gb'),
    MIG_UUID: label('UUID of the MIG instance'),
    slices: optional(gauge('u8', { metric: 'nvml_mig_slices', help: 'Slices of the GPU that the instance has' })),
  },
  {
    entity: {
      ...{ kind: 'gpu_instance', key: ['MIG_UUID'], host: 'Hostname', defines: true },
      relations: [{ kind: 'gpu', key: ['UUID'] }],
    },
    core: [],
  },
)

const share = (help: string) => optional(gauge('f64', { unit: 'ratio', help: `Share of time in which ${help}` }))

/** Virtual GPUs of virtual machines, on a host whose driver is NVIDIA's vGPU manager. */
export const nvmlVgpuType = defineType(
  'nvml_vgpu',
  'Memory and use of one virtual GPU of a virtual machine',
  {
    time: timestamp(),
    ...ownLabels,
    vgpu_id: labelNumber('u32', 'Id of the virtual GPU, as NVML numbers them'),
    vgpu_uuid: label('UUID of the virtual GPU'),
    vgpu_type: label('Type of the virtual GPU, such as NVIDIA A16-2Q'),
    vm_id: label('Virtual machine: its UUID, or the number of its domain on Xen'),
    memory_bytes: optional(gauge('u64', { unit: 'bytes', help: 'Memory of the GPU that the type gives' })),
    memory_used_bytes: optional(gauge('u64', { unit: 'bytes', help: 'Memory of it that the virtual machine uses' })),
    util_ratio: share('kernels of the virtual machine ran'),
    memory_util_ratio: share('the virtual machine read or wrote memory'),
    encoder_util_ratio: share('the virtual machine used the video encoder'),
    decoder_util_ratio: share('the virtual machine used the video decoder'),
  },
  {
    entity: {
      ...{ kind: 'vgpu', key: ['vgpu_uuid'], host: 'Hostname', defines: true, facts: ['memory_bytes'] },
      relations: [{ kind: 'gpu', key: ['UUID'] }],
    },
    core: ['memory_used_bytes', 'util_ratio'],
  },
)

const condition = (help: string) => optional(gauge('u8', { help: `1 if ${help}, 0 if not` }))

/** Registration of a GPU with its NVLink domain. A domain may span hosts. */
export const nvmlFabricType = defineType(
  'nvml_fabric',
  'Registration of one GPU with its NVLink domain',
  {
    time: timestamp(),
    ...ownLabels,
    cluster: text({ help: 'UUID of the NVLink domain; empty if the GPU belongs to none' }),
    clique: gauge('u32', { help: 'Id of the clique: GPUs of one clique of a domain reach each other over NVLink' }),
    state: gauge('u8', { help: 'State of the registration: 1 not started, 2 in progress, 3 completed' }),
    status: optional(gauge('u32', { help: 'Result of the registration as NVML numbers errors; 0 is success' })),
    summary: optional(gauge('u8', { help: 'Health of the fabric: 1 healthy, 2 unhealthy, 3 limited capacity' })),
    degraded_bandwidth: condition('the GPU has less NVLink bandwidth than it should'),
    route_recovery: condition('routes of the GPU are being recovered'),
    route_unhealthy: condition('a route of the GPU is unhealthy'),
    access_timeout_recovery: condition('the GPU recovers from an access that took too long'),
  },
  { entity, core: ['state', 'summary'] },
)
