/** Head of a column of small drawings. */
export function SparkHead({ of, spanWords }: { readonly of: string; readonly spanWords: string }) {
  return (
    <>
      <span className="visually-hidden">{of}, last </span>
      {spanWords}
    </>
  )
}
