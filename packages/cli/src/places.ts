import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Folder of the Helm chart: beside the published program, or in a checkout. */
export function chartDir(): string {
  const folders = ['./chart/', '../../../deploy/helm/sonde/'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  )
  return folders.find(existsSync) ?? (folders[0] as string)
}
