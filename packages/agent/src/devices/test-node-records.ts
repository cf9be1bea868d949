import { Absences, type Labels, type RecordOf, type RecordType, type Sink, type Source, wallNs } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { netdevType } from '../sources/netdev/type.ts'
import { nvmlGpuInfoType } from '../sources/nvml/type.ts'
import { pciDeviceType } from '../sources/pci/type.ts'
import { rdmaPortType } from '../sources/rdma/type.ts'

/** Sources that report test records to a list of devices: one for the real node, one for the simulated node. */
export class NodeRecords {
  readonly source: Source
  readonly absences: Absences

  constructor(sink: Pick<Sink, 'accept'>, labels: Labels = {}, intervalMs = 1000) {
    this.source = createOwnSource({ id: 'made', labels, intervalMs, emit: (batch) => sink.accept(batch) })
    this.absences = new Absences(this.source)
  }

  /** Reports one record; fields that are not given are empty, 0 or absent, and its time is now. */
  report<T extends RecordType>(type: T, values: Readonly<Record<string, unknown>>): void {
    const record: Record<string, unknown> = { time: wallNs() }
    for (const { name, field } of type.layout.slots) {
      if (field.role === 'timestamp' && !(name in values)) continue
      if (name in values) record[name] = values[name]
      else if (!field.optional) record[name] = field.kind === 'symbol' ? '' : 0
    }
    this.source.report(type, record as RecordOf<T>)
    this.source.flush()
  }

  gone(type: RecordType, labels: Labels): void {
    this.absences.gone(type, labels, 'it left')
    this.source.flush()
  }

  pci(pci_address: string, values: Readonly<Record<string, unknown>> = {}): void {
    this.report(pciDeviceType, { pci_address, ...values })
  }

  gpu(gpu: string, pci_address: string, values: Readonly<Record<string, unknown>> = {}): void {
    this.report(nvmlGpuInfoType, {
      gpu,
      UUID: `GPU-${gpu}`,
      pci_address,
      modelName: 'NVIDIA H100 80GB HBM3',
      ...values,
    })
  }

  port(device: string, values: Readonly<Record<string, unknown>> = {}): void {
    this.report(rdmaPortType, { rdma_device: device, port: 1, ...values })
  }

  netdev(device: string, values: Readonly<Record<string, unknown>> = {}): void {
    this.report(netdevType, { device, ...values })
  }

  /** Eight rails, each a GPU and a NIC below one switch, and a bonded BlueField-3 for storage. */
  hgx(): void {
    for (let rail = 0; rail < 8; rail++) {
      const bus = (0x10 + rail * 0x10).toString(16)
      const up = `0000:${bus}:01.0/0000:${bus}:02.0`
      const link = { max_link_bandwidth_bytes_per_second: 63_015_384_615, numa_node: rail >> 2 }
      this.pci(`0000:${bus}:04.0`, { ...link, class: 'gpu', driver: 'nvidia', path: `${up}/0000:${bus}:03.0` })
      const nic = { class: 'infiniband', model: 'ConnectX-7', netdevs: `eth1${rail}`, rdma_devices: `mlx5_${rail}` }
      this.pci(`0000:${bus}:05.0`, { ...link, ...nic, driver: 'mlx5_core', path: `${up}/0000:${bus}:03.1` })
      this.gpu(String(rail), `0000:${bus}:04.0`, {
        power_limit_max_watts: 700,
        memory_bytes: 85_520_809_984,
        driver: '570.86',
      })
      this.port(`mlx5_${rail}`, { address: `0000:${bus}:05.0`, netdevs: `eth1${rail}`, driver: 'mlx5_core' })
      this.netdev(`eth1${rail}`)
    }
    for (const port of [0, 1]) {
      const place = {
        class: 'dpu',
        model: 'BlueField-3',
        path: '0000:29:01.0',
        netdevs: `eth1${8 + port}`,
        numa_node: 0,
      }
      this.pci(`0000:2a:00.${port}`, { ...place, rdma_devices: port === 0 ? 'mlx5_bond_0' : '' })
      this.netdev(`eth1${8 + port}`)
    }
    this.port('mlx5_bond_0', { address: '0000:2a:00.0', netdevs: 'bond0' })
    this.netdev('bond0')
  }
}
