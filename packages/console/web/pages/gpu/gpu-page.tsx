import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { NO_BREAK_SPACE } from '../../format/number.ts'
import { DeviceOf } from '../device/device-of.tsx'
import { DevicePage } from '../device/device-page.tsx'
import { GPU_TOTALS, gpuFacts } from './gpu-facts.ts'
import { gpuPanels } from './gpu-panels.ts'
import { GpuPods } from './gpu-pods.tsx'
import { MigTable } from './mig-table.tsx'
import { VgpuTable } from './vgpu-table.tsx'

const TYPES: readonly string[] = ['nvml_gpu', 'nvml_profile', 'nvml_gpu_info', 'nvml_xid']
const SOUGHT = { kind: 'gpu', one: 'GPU', many: 'GPUs', path: '/gpus', label: 'GPUs' } as const

/** The page of a GPU. */
export function GpuPage({ id }: { readonly id: string }) {
  return (
    <DeviceOf id={id} sought={SOUGHT}>
      {(device) => <Gpu device={device} />}
    </DeviceOf>
  )
}

function Gpu({ device }: { readonly device: DeviceInfo }) {
  const sections = useMemo(() => [{ id: 'charts', title: '', panels: gpuPanels(device) }], [device])
  const { model = '', address = '', driver = '', numaNode, labels } = device
  return (
    <DevicePage
      device={device}
      parent={{ label: 'GPUs', path: '/gpus' }}
      note={[
        model,
        labels.UUID ?? '',
        address,
        numaNode == null ? '' : `NUMA${NO_BREAK_SPACE}${numaNode}`,
        driver && `driver ${driver}`,
      ]}
      sections={sections}
      types={TYPES}
      facts={(readings) => gpuFacts(device, readings)}
      totals={GPU_TOTALS}
    >
      <PanelBoundary>
        <GpuPods device={device} />
      </PanelBoundary>
      <PanelBoundary>
        <MigTable device={device} />
      </PanelBoundary>
      <PanelBoundary>
        <VgpuTable device={device} />
      </PanelBoundary>
    </DevicePage>
  )
}
