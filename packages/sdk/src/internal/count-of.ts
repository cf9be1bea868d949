/** A number of things in words: `1 interface`, `8 interfaces`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
