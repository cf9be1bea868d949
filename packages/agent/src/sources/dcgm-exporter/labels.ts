import type { Labels } from '@sonde/sdk'
import { labelOf } from '@sonde/sdk/internal'
import { firstOf } from '../pods/labels.ts'

/** The labels of a GPU, as records have them. */
export interface GpuLabels extends Record<string, string> {
  readonly gpu: string
  readonly UUID: string
  readonly device: string
  readonly modelName: string
  readonly Hostname: string
  readonly pci_bus_id: string
}

/** Texts beside the labels of a GPU, which exporters write as labels of every series. */
export interface BoardTexts {
  readonly serial: string
  readonly driver: string
  readonly vbios: string
}

/**
 * The labels of the GPU that a series is about, by any of their names; undefined if it is about none.
 *
 * @param host Name of the node, for exporters that do not tell it.
 */
export function gpuLabelsOf(labels: Labels, host: string): GpuLabels | undefined {
  const UUID = firstOf(labels, ['UUID', 'uuid', 'gpu_uuid'])
  if (UUID === '') return undefined
  return {
    gpu: labelOf(labels, 'gpu'),
    UUID,
    device: labelOf(labels, 'device'),
    modelName: firstOf(labels, ['modelName', 'model_name']),
    Hostname: firstOf(labels, ['Hostname', 'hostname']) || host,
    pci_bus_id: labelOf(labels, 'pci_bus_id'),
  }
}

/** Id and profile of the MIG instance that a series is about; undefined if it is about the whole GPU. */
export function instanceOf(labels: Labels): { readonly id: number; readonly profile: string } | undefined {
  const text = labelOf(labels, 'GPU_I_ID')
  if (!/^\d{1,3}$/.test(text) || Number(text) > 255) return undefined
  return { id: Number(text), profile: labelOf(labels, 'GPU_I_PROFILE') }
}

/** What label-type counters of an exporter say of the board. */
export function boardTextsOf(labels: Labels): BoardTexts {
  return {
    serial: firstOf(labels, ['DCGM_FI_DEV_SERIAL', 'DCGM_FI_DEV_BOARD_SERIAL']),
    driver: firstOf(labels, ['DCGM_FI_DRIVER_VERSION', 'DCGM_FI_SYSTEM_DRIVER_VERSION']),
    vbios: firstOf(labels, ['DCGM_FI_DEV_VBIOS_VERSION']),
  }
}
