import { dcbPortType } from '../dcb/type.ts'
import { docaAdpRetxTimeoutsType, docaAdpRetxType } from '../doca-telemetry-adp-retx/type.ts'
import {
  docaDiagPciBytesType,
  docaDiagPciType,
  docaDiagPciUseType,
  docaDiagPortType,
  docaDiagPriorityType,
  docaDiagType,
} from '../doca-telemetry-diag/type.ts'
import { docaDpaProcessType, docaDpaThreadType } from '../doca-telemetry-dpa/type.ts'
import { docaPccCounterType, docaPccType, docaPccValueType } from '../doca-telemetry-pcc/type.ts'
import { docaPciLatencyType, docaPciType } from '../doca-telemetry-pci/type.ts'
import { docaDiagLinkType, docaPhyLaneType, docaPhyType } from '../doca-telemetry-phy/type.ts'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../ethtool/type.ts'
import { hostPressureType } from '../host/type.ts'
import { netdevCarrierType, netdevType } from '../netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { pciAerType, pciDeviceType } from '../pci/type.ts'
import { podDeviceType, podInfoType } from '../pods/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../rdma/type.ts'
import { sampled } from '../sampled.ts'
import type { SourceDefinition } from '../source.ts'
import { type SimulatorOptions, simulatorOptions } from './config.ts'

/** Registry row of the simulator: runs only on request. */
export const simulator: SourceDefinition = {
  name: 'simulator',
  summary: 'A simulated AI node: GPUs, NICs and links that behave like real ones',
  types: [
    nvmlGpuInfoType,
    nvmlGpuType,
    nvmlXidType,
    nvmlProfileType,
    nvmlMigType,
    rdmaPortType,
    rdmaPortCountersType,
    rdmaHwFirstType,
    rdmaHwType,
    ethtoolLinkType,
    ethtoolPortType,
    ethtoolPriorityType,
    ethtoolLaneType,
    dcbPortType,
    pciDeviceType,
    pciAerType,
    netdevType,
    netdevCarrierType,
    hostPressureType,
    podInfoType,
    podDeviceType,
    docaDiagType,
    docaDiagPortType,
    docaDiagPriorityType,
    docaDiagPciBytesType,
    docaDiagPciType,
    docaDiagPciUseType,
    docaAdpRetxType,
    docaAdpRetxTimeoutsType,
    docaDpaProcessType,
    docaDpaThreadType,
    docaPccType,
    docaPccCounterType,
    docaPccValueType,
    docaPciType,
    docaPciLatencyType,
    docaPhyType,
    docaPhyLaneType,
    docaDiagLinkType,
  ],
  host: 'agent',
  intervalMs: 1000,
  options: simulatorOptions,
  labels: { simulated: 'true' },
  isOnRequest: true,
  refuse: async (options) => (await import('./scenario-play.ts')).rehearse(options as SimulatorOptions),
  async load() {
    // A quarter of the agent's code, loaded only if the simulator is configured.
    const { SimulatedNodeSource } = await import('./simulated-node.ts')
    return {
      create: (options, context) => sampled(new SimulatedNodeSource(options as SimulatorOptions, context), context),
    }
  },
}
