// How the pages of node_exporter 1.5 and of Sonde differ over the files of the test.

import { COMPARED, type NamePair } from '../../scripts/docs/node-exporter-names.ts'

type Labels = readonly [ours: string, theirs: string]

const sensor = (chip: string, name: string, label: string, file: string): Labels => [
  `chip="${chip}",chip_name="${name}",sensor="${label}"`,
  `chip="${name}",sensor="${file}"`,
]
const PACKAGE = sensor('coretemp.0', 'coretemp', 'Package id 0', 'temp1')
const ADAPTER = sensor('0000:9a:00.0', 'mlx5', 'asic', 'temp1')
const METER = sensor('ACPI000D:00', 'power_meter', 'chassis', 'power1')
const FAN = sensor('ACPI000D:00', 'power_meter', 'Fan wall 1', 'fan1')

/** Labels of series for which both have other names or values. The first row that fits a metric of ours holds. */
const LABELS: readonly (readonly [ours: RegExp, series: readonly Labels[]])[] = [
  [/^host_temperature_celsius$/, [PACKAGE, ADAPTER]],
  [/^host_temperature_/, [PACKAGE]],
  [/^host_fan_/, [FAN]],
  [/^host_power_/, [METER]],
  [/^host_thermal_zone_/, [['kind="x86_pkg_temp"', 'type="x86_pkg_temp"']]],
  [/^host_numa_/, [['numa_node="0"', 'node="0"']]],
  [/^host_memory_module_/, [['module="csrow0"', 'csrow="0"']]],
  [/^host_cpu_package_throttles_total$/, [['package="0"', 'package="0"']]],
  [/^host_cpu_package_frequency_/, [['package="0"', 'cpu="0"']]],
]

/** Pairs of series of ours and the same of theirs. Labels that are named here are not compared; all others are. */
export const SAME: readonly NamePair[] = COMPARED.flatMap((pair) => {
  const [ours, theirs] = pair
  const series = LABELS.find(([pattern]) => pattern.test(ours))?.[1]
  return series?.map((labels): NamePair => [`${ours}{${labels[0]}}`, `${theirs}{${labels[1]}}`]) ?? [pair]
})

/** Series of ours that have no such counterpart, and why. */
export const OURS_ONLY: readonly (readonly [ours: string, why: string])[] = [
  ['host_numa_device_memory', 'node_exporter does not know which nodes are memory of GPUs'],
  ['host_machine_cpus', 'node_exporter has no number of CPUs'],
  ['host_machine_info', 'node_exporter has these texts at node_os_info and node_dmi_info, which other collectors read'],
  ['host_pressure_stalled_seconds_total{resource="cpu"}', 'node_exporter does not read the full line of the CPUs'],
  ['host_vm_allocation_stalls_total', 'node_exporter has one a memory zone'],
  ...['passive', 'hot', 'critical'].map(
    (trip) => [`host_thermal_zone_${trip}_celsius`, 'node_exporter does not read trip points'] as const,
  ),
  ...['dimm0', 'dimm1'].flatMap((module) =>
    ['corrected', 'uncorrected'].map(
      (kind) =>
        [
          `host_memory_module_${kind}_errors_total{module="${module}"}`,
          'node_exporter 1.5 knows rows of chips alone',
        ] as const,
    ),
  ),
  ...['controller', 'module'].map(
    (part) => [`host_memory_${part}_size_bytes`, 'node_exporter reads the errors alone'] as const,
  ),
  ['host_cpu_package_throttled_seconds_total', 'node_exporter reads how often, not how long'],
  ['host_cpu_package_core_throttled_seconds_total', 'node_exporter reads how often, not how long'],
  ['rdma_port_width_lanes', 'node_exporter takes the rate alone'],
  ['rdma_port_saturated_counters', 'node_exporter shows counters that are stuck as they are'],
  ['rdma_port_turn_age_seconds', 'node_exporter reads everything at every scrape'],
]

/** Series of the test's tree whose values differ on purpose, as `metric{labels}: ours, theirs`, and why. */
export const DIFFERENT: readonly (readonly [series: RegExp, why: string])[] = [
  [
    /^netdev_up\{device="lo"\}: 1, 0$/,
    'loopback and tunnels leave operstate at unknown: with a carrier that is up to us, and down to node_exporter',
  ],
  [
    /^netdev_speed_bytes_per_second\{device="ens3f0np0_long1"\}: absent, -125000$/,
    'a speed of -1 is not known: absent, not negative',
  ],
  [
    /^netdev_(up|mtu_bytes)\{device="fresh0"\}: absent, \d+$/,
    'an interface is what /proc/net/dev lists, and this is not listed yet',
  ],
  [
    /^netdev_up\{device="a.*"\}: absent, 0$/,
    'an operstate that cannot be read does not say that the interface is down',
  ],
  [
    /^host_cpu_\w+\{cpu="([1-9]|10)",mode="\w+"\}: absent, 0$/,
    'a CPU that is offline has no time; node_exporter fills the numbers up with zeros',
  ],
  [
    /^host_softnet_\w+\{cpu="(11"\}: \d+, absent|1"\}: absent, \d+)$/,
    'the kernel says which CPU a line belongs to; node_exporter counts lines, which is wrong where a CPU is offline',
  ],
]
