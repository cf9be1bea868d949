import { defineType, type Field, gauge, label, optional, timestamp } from '@sonde/sdk'
import { nvmlGpuInfoType } from '../nvml/type.ts'
import { DCGM_FIELDS, type DcgmField } from './fields.ts'

/** Labels of a GPU and its MIG instance, under the names of current exporters. */
const GPU_LABELS = {
  gpu: label('Index of the GPU, as NVML counts'),
  UUID: label('UUID of the GPU'),
  pci_bus_id: label('PCI address as NVML spells it'),
  device: label('Device file below /dev'),
  modelName: label('Product name'),
  GPU_I_PROFILE: label('Profile of the MIG instance'),
  GPU_I_ID: label('Id of the MIG instance in its GPU'),
  Hostname: label('Name of the node that the GPU is in'),
}

/** Labels that only some series have, copied from the exporter. */
const COPIED_LABELS = {
  DCGM_FI_DRIVER_VERSION: label('Version of the driver'),
  pod_uid: label('UID of the pod'),
  vgpu: label('Number of the replica of a shared GPU'),
  hpc_job: label('Job of a batch system'),
  dra_claim_name: label('Resource claim of the pod'),
  dra_claim_namespace: label('Namespace of the resource claim'),
  dra_driver_name: label('Driver of the resource claim'),
  dra_pool_name: label('Pool of the resource claim'),
  dra_device_name: label('Device of the resource claim'),
  dra_mig_profile: label('MIG profile of the resource claim'),
  dra_mig_device_uuid: label('UUID of the MIG device of the resource claim'),
  err_code: label('Number of the XID error'),
  err_msg: label('Text of the XID error'),
}

/** The field of the exported type for a field of DCGM. */
export function exportedField({ names: [name = ''] }: DcgmField): string {
  return name.toLowerCase()
}

/** Limits of a GPU keep the units of DCGM here; all other fields are as in the types of `nvml`. */
function exportedValue(dcgm: DcgmField): Field {
  const { type, field } = dcgm.target
  const known = type.fields[field] as Field
  if (type !== nvmlGpuInfoType) return known
  const unit = dcgm.target.factor === 1 ? known.unit : 'MHz'
  const help = known.help ?? ''
  return optional(gauge('f64', { metric: `DCGM_FI_${dcgm.names[0]}`, help, ...(unit === undefined ? {} : { unit }) }))
}

/**
 * Values of an exporter with all its labels, for `/metrics` and destinations. A GPU that several pods share has several
 * series here, and the series change with the pods. Other sinks get records of GPUs and of their pods.
 */
export const dcgmSeriesType = defineType('dcgm_series', 'Series of dcgm-exporter, with all their labels', {
  time: timestamp(),
  ...GPU_LABELS,
  container: label('Container that holds the GPU'),
  namespace: label('Namespace of the pod'),
  pod: label('Pod that holds the GPU'),
  app: label('App of the pod'),
  service: label('Service of the pod'),
  ...COPIED_LABELS,
  ...Object.fromEntries(DCGM_FIELDS.map((field) => [exportedField(field), exportedValue(field)])),
})
