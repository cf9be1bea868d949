import { statSync } from 'node:fs'
import { show } from '@sonde/sdk/config'
import { messageOf, readLabelFile } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'
import type { Loaded } from './load.ts'
import { refuseForeignLibraries } from './trust.ts'

/**
 * Refuses a given root that is no directory: everything below it would be absent, which looks like a machine without
 * hardware. If it disappears later, its sources report that. Also refuses a label file with a fault, libraries that
 * root must not load, and source options that exclude each other. All this runs before anything is created on disk.
 *
 * @throws ConfigError that names the key; SondeError of the source.
 */
export async function checkPlaces<T extends Loaded>(loaded: T): Promise<T> {
  const { procfs, sysfs, devfs = '/dev' } = loaded.config.agent.paths
  const faults = Object.entries({ procfs, sysfs, devfs }).flatMap(([name, root]) => {
    const key = `paths.${name}`
    const origin = loaded.originOf(key)
    if (origin === 'default' || isDirectory(root)) return []
    return [`${origin}: ${key} is ${show(root)}, and no directory is there; allowed: a directory`]
  })
  faults.push(...labelFileFaults(loaded))
  if (faults.length > 0) throw new ConfigError(faults)
  const { paths, dataSources } = loaded.config.agent
  refuseForeignLibraries(
    paths,
    dataSources.map(({ definition }) => definition),
  )
  for (const { definition, options } of loaded.config.agent.dataSources) await definition.refuse?.(options)
  return loaded
}

function labelFileFaults({ config, originOf }: Loaded): string[] {
  const { metadata_file: file } = config.agent.export.prometheus
  try {
    if (file !== undefined) readLabelFile(file)
    return []
  } catch (error) {
    const key = 'export.prometheus.metadata_file'
    return [`${originOf(key)}: ${key} is ${show(file)}: ${messageOf(error)}`]
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // The root is missing or not readable. In both cases nothing below it can be read.
    return false
  }
}
