// SPDX-License-Identifier: Apache-2.0
// fmt's implementation, compiled once: Debian ships it as headers or as a shared library alone, and
// the headers alone cost every file that formats some seconds.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API void buffer<char>::append(const char* begin, const char* end);
template FMT_API void vformat_to(buffer<char>& out, basic_string_view<char> format,
                                 basic_format_args<buffer_context<char>> arguments,
                                 locale_ref locale);

} // namespace detail
FMT_END_NAMESPACE
