import { dcb } from './dcb/dcb.ts'
import { dcgmExporter } from './dcgm-exporter/dcgm-exporter.ts'
import { SOURCES as DOCA_SOURCES } from './doca/sources.ts'
import { SOURCES as DRIVER_SOURCES } from './ethtool/sources.ts'
import { host } from './host/host.ts'
import { kubeStateMetrics } from './kube-state-metrics/kube-state-metrics.ts'
import { kubernetes } from './kubernetes/kubernetes.ts'
import { netdev } from './netdev/netdev.ts'
import { nvml } from './nvml/nvml.ts'
import { pci } from './pci/pci.ts'
import { pciSamples } from './pci-samples/pci-samples.ts'
import { pressureSamples } from './pressure-samples/pressure-samples.ts'
import { rdma } from './rdma/rdma.ts'
import { rdmaPortSamples } from './rdma-port-samples/rdma-port-samples.ts'
import { rdmaSamples } from './rdma-samples/rdma-samples.ts'
import { simulator } from './simulator/simulator.ts'
import { simulatorDiag } from './simulator-diag/simulator-diag.ts'
import type { SourceDefinition } from './source.ts'

/** All kinds of sources. To add a source, add a folder beside this file and a row here. */
export const SOURCES: readonly SourceDefinition[] = [
  host,
  pressureSamples,
  netdev,
  rdma,
  rdmaSamples,
  rdmaPortSamples,
  ...DRIVER_SOURCES,
  dcb,
  pci,
  pciSamples,
  ...DOCA_SOURCES,
  nvml,
  dcgmExporter,
  kubernetes,
  kubeStateMetrics,
  simulator,
  simulatorDiag,
]
