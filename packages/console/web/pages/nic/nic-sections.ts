import type { DeviceInfo } from '../../api/devices.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'
import { acceleratorSection } from './nic-accelerator.ts'
import { congestionSection } from './nic-congestion.ts'
import { linkSection } from './nic-link.ts'
import { pcieSection } from './nic-pcie.ts'
import { retransmissionSection, trafficSection } from './nic-traffic.ts'

/** The panels of a NIC port, in sections. */
export function nicSections({ limits }: DeviceInfo): readonly DeviceSection[] {
  return [
    trafficSection(),
    retransmissionSection(),
    congestionSection(),
    linkSection(),
    pcieSection(limits.pcie_bytes_per_s),
    acceleratorSection(),
  ]
}
