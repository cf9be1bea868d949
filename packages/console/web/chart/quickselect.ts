/**
 * The `k`-th smallest of the first `count` numbers of `values`, which is reordered: everything before position `k` is
 * then not larger.
 */
export function quickselect(values: Float64Array, count: number, k: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1]!
    let i = low
    let j = high
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i <= j) {
        const swapped = values[i]!
        values[i++] = values[j]!
        values[j--] = swapped
      }
    }
    if (k <= j) high = j
    else if (k >= i) low = i
    else break
  }
  return values[k]!
}

/** The middle of the first `count` numbers of `scratch`, which is reordered. NaN if there are none. */
export function medianInPlace(scratch: Float64Array, count: number): number {
  if (count === 0) return Number.NaN
  const upper = quickselect(scratch, count, count >> 1)
  if (count % 2 === 1) return upper
  let lower = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count >> 1; i++) lower = Math.max(lower, scratch[i]!)
  return (lower + upper) / 2
}
