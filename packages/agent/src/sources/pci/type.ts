import { counter, defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'
import type { FieldOptions } from '@sonde/sdk/internal'

const entity = { kind: 'pci', key: ['pci_address'] }

const messages = (severity: string) =>
  optional(
    counter('u64', {
      metric: 'pci_device_aer_messages_total',
      labels: { severity },
      help: 'Error messages that the device sent; after a nonfatal error the link can go on, after a fatal error it cannot be trusted',
    }),
  )
const rootportMessages = (severity: string) =>
  optional(
    counter('u64', {
      metric: 'pci_device_aer_rootport_messages_total',
      labels: { severity },
      help: 'Error messages that the root port got from below',
    }),
  )
const speed = (help: string) => optional(gauge('f64', { unit: 'transfers_per_second', help }))
const lanes = (help: string) => optional(gauge('u8', { help }))
const bandwidth = (help: string) => optional(gauge('u64', { unit: 'bytes_per_second', help }))
const number = (options: FieldOptions) => optional(gauge('u16', options))

const pci_address = label('PCI address, such as 0000:9b:00.0')

/**
 * What identifies one PCI device, where it is plugged in, and how its link does: a record each time that its link and
 * errors are read. Texts are empty if there is nothing of the kind.
 */
export const pciDeviceType = defineType(
  'pci_device',
  'Identity, place and link of one PCI device',
  {
    time: timestamp(),
    pci_address,
    class: text({
      help: 'Kind of device: gpu, accelerator, network, infiniband, dpu, nvme, bridge, and others after the base class',
    }),
    class_code: text({ help: 'Class code, such as 0x030200' }),
    vendor: text({ help: 'Name of the vendor, its id where Sonde knows no name' }),
    model: text({ help: 'Name of the product where Sonde knows one' }),
    vendor_id: text({ help: 'Id of the vendor, such as 10de' }),
    product_id: text({ help: 'Id that the vendor gave the product, such as 2330' }),
    subsystem_id: optional(text({ help: 'Vendor and product id of the board, such as 10de:16c1' })),
    driver: text({ help: 'Driver that is bound to it' }),
    path: text({ help: 'Addresses of the bridges from the root port to just above the device, with / between' }),
    netdevs: text({
      help: 'Network interfaces of the device, with a blank between; those that stand for its functions left out',
    }),
    rdma_devices: text({ help: 'RDMA devices of the device, with a blank between' }),
    physical_function: text({ help: 'Address of the physical function that a virtual function belongs to' }),
    current_link_speed_transfers_per_second: speed('Transfers per second and lane at which the link runs'),
    max_link_speed_transfers_per_second: speed('Transfers per second and lane that the device can do'),
    current_link_width_lanes: lanes('Lanes in use'),
    max_link_width_lanes: lanes('Lanes that the device has'),
    current_link_bandwidth_bytes_per_second: bandwidth(
      'Bytes per second and direction of the link as it runs, line coding taken off, packet headers not',
    ),
    max_link_bandwidth_bytes_per_second: bandwidth('The same at the highest speed and width of the device'),
    numa_node: number({ help: 'NUMA node that the device is closest to' }),
    socket: number({ help: 'Socket of the processors of that NUMA node, as the kernel numbers it' }),
    sriov_numvfs: number({ help: 'Virtual functions that are switched on' }),
    aer_correctable_total: messages('correctable'),
    aer_nonfatal_total: messages('nonfatal'),
    aer_fatal_total: messages('fatal'),
    aer_rootport_correctable_total: rootportMessages('correctable'),
    aer_rootport_nonfatal_total: rootportMessages('nonfatal'),
    aer_rootport_fatal_total: rootportMessages('fatal'),
  },
  {
    inTurns: true,
    entity: {
      ...entity,
      defines: true,
      facts: ['max_link_bandwidth_bytes_per_second', 'numa_node', 'socket'],
      joins: [{ by: 'netdev', field: 'netdevs', isList: true }],
      relations: [
        { kind: 'nic', key: ['rdma_devices'], isList: true },
        { kind: 'pci', key: ['physical_function'] },
      ],
    },
    core: [
      'current_link_speed_transfers_per_second',
      'max_link_speed_transfers_per_second',
      'current_link_width_lanes',
      'max_link_width_lanes',
      'current_link_bandwidth_bytes_per_second',
      'aer_correctable_total',
      'aer_nonfatal_total',
      'aer_fatal_total',
    ],
  },
)

/**
 * One error of PCIe Advanced Error Reporting at one device. An error that was never counted has no series, one that was
 * has a record each time that it is read.
 */
export const pciAerType = defineType(
  'pci_aer',
  'Errors that one PCI device has counted, by name',
  {
    time: timestamp(),
    pci_address,
    severity: label('correctable, nonfatal or fatal'),
    error: label('Short name of the error as current kernels spell it, such as BadTLP'),
    errors_total: counter('u64', { help: 'Times the device saw it' }),
  },
  { inTurns: true, entity },
)
