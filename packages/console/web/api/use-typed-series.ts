import type { LatestSeries, ListedType } from '@sonde/sdk/api'
import { useMemo, useRef } from 'react'
import type { ApiError } from './client.ts'
import { useSeriesOfTypes, useTypes } from './resources.ts'

/** Types of this node, and the latest values of their series, which were asked with these types. */
export interface TypedSeries {
  /** Every type of the node. */
  readonly catalogue: readonly ListedType[]
  /** The wanted types among them, in the wanted order. */
  readonly types: readonly ListedType[]
  /** Series of the wanted types; undefined before the first answer. */
  readonly series: readonly LatestSeries[] | undefined
  readonly error: ApiError | undefined
}

const NO_TYPES: readonly ListedType[] = []

/**
 * The latest values of every series of the wanted types, renewed every `everyMs`. A new source adds types: the old
 * types stay with their values until the values of the new types arrive. So a type without a series has none on the
 * node.
 */
export function useTypedSeries(wanted: readonly string[], everyMs: number): TypedSeries {
  const { data: known, error: unlisted } = useTypes()
  const catalogue = known?.types ?? NO_TYPES
  // In the wanted order, because the order of the catalogue depends on which source answered first.
  const types = useMemo(
    () => wanted.flatMap((name) => catalogue.find((type) => type.name === name) ?? []),
    [catalogue, wanted],
  )
  const names = useMemo(() => types.map(({ name }) => name), [types])
  const { data, error } = useSeriesOfTypes(names, everyMs)
  const series = known && data?.series
  const answered = useRef<TypedSeries>(undefined)
  const now = useMemo(
    () => ({ catalogue, types, series, error: known ? error : unlisted }),
    [catalogue, types, series, error, known, unlisted],
  )
  if (series) answered.current = now
  return answered.current ?? now
}
