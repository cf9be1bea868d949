import type { PodName } from '@sonde/sdk/api'
import { pathPart } from './path-part.ts'

/** The path of the page of a pod. */
export function podPath({ namespace, name }: PodName): string {
  return `/pods/${pathPart(namespace)}/${pathPart(name)}`
}

/** The path of the page of an app. */
export function appPath(app: string): string {
  return `/apps/${pathPart(app)}/gpu`
}
