import { defineType, gauge, label, text, timestamp } from '@sonde/sdk'

/** Network interfaces of pods: one record for each interface in the network namespace of a pod. */
export const podNicType = defineType(
  'pod_nic',
  'A network interface of a pod',
  {
    time: timestamp(),
    namespace: label('Namespace of the pod; `@job` and others for owners without a pod'),
    pod: label('Name of the pod'),
    interface: label('Name of the interface in the pod'),
    rdma_device: label('RDMA device of the function, as the host names it; empty if the host does not see it'),
    driver: text({ help: 'Driver of the interface, such as `mlx5_core` or `veth`' }),
    pci_address: text({ help: 'PCI address of the function; empty if the interface is virtual' }),
    physical_function: text({ help: 'PCI address of the adapter if the function is a part of it (VF); else empty' }),
    host_interface: text({ help: 'Interface of the host that carries its traffic: representor or end of a veth pair' }),
    via: text({ help: 'Origin of this fact' }),
    no_counters: text({
      help: 'Why no RDMA counters are those of this pod alone; empty if those of `rdma_device` are',
    }),
    own: gauge('u8', { help: '1 if the pod has the function for itself, 0 if it is virtual or others use it too' }),
  },
  { entity: { kind: 'pod', key: ['namespace', 'pod'] }, core: [] },
)
